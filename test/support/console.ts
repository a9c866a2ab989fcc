import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { addModerator, type Moderator, submit } from '../../harness/moderation.ts';
import { untilHandled, visit } from './browser.ts';
import { type Service, startService } from './service.ts';

// Refusals that the console shows to the moderator; the browser logs each of them.
const REFUSALS =
  /status of (401|409)|ERR_FAILED|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION/;

/** The response to a request that a test refuses. */
export const CONFLICT_RESPONSE = {
  status: 409,
  json: { error: { code: 'conflict', message: 'No.' } },
};

export async function signIn(page: Page, moderator: Pick<Moderator, 'token'>): Promise<void> {
  await page.getByLabel('Token').fill(moderator.token);
  await page.keyboard.press('Enter');
  await page.getByLabel('Token').waitFor({ state: 'detached' });
}

/** As if the moderator had switched *Keep going* off; a test's storage may refuse. */
const DECIDES_WITHOUT_CLAIMS = `try { localStorage['moderation.keep-going'] ??= 'off'; } catch {}`;

/**
 * Opens the console in a new browser profile and signs the moderator in. Decisions claim the next item only if
 * the test switches that on, or with `keepGoing: 'default'`.
 */
export async function openConsole(
  t: Test,
  service: Service,
  moderator: Moderator,
  { first = '', keepGoing }: { first?: string; keepGoing?: 'default' } = {},
) {
  const { page, context } = await visit(t, `${service.baseUrl}/moderation`, {
    expected: REFUSALS,
    retries: true,
    first: keepGoing === 'default' ? first : `${first};${DECIDES_WITHOUT_CLAIMS}`,
  });
  const policies = page.waitForResponse('**/api/moderation/policies');
  await signIn(page, moderator);
  await page.getByRole('heading', { name: 'To do', level: 2 }).waitFor();
  await page.locator('.stream.live').waitFor();
  // Keys work once the queue is loaded, with rows or empty; digits once the policies are loaded.
  await page.locator('.rows, .empty').waitFor();
  await untilHandled(page, policies);
  return { page, context };
}

/** Opens the console of the moderator Ann with these notes in the queue. */
export async function openConsoleWithNotes(t: Test, messages: readonly string[]) {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const notes = [];
  for (const message of messages) notes.push(await submit(service, { message }));
  return { service, ann, notes, ...(await openConsole(t, service, ann)) };
}

/** Texts for `count` notes, numbered from 1. */
export const numberedTexts = (count: number, text = 'Note'): string[] =>
  Array.from({ length: count }, (_, before) => `${text} ${before + 1}`);

/** The text of the current note. */
export const currentText = (page: Page): Promise<string | null> =>
  page.locator('.note .text').textContent();

/**
 * Presses *Load more* without scrolling to it. A click would scroll, and the end of the list, once in sight, loads
 * more on its way: the button of the last page could be gone before the click.
 */
export const loadMore = (page: Page) =>
  page.getByRole('button', { name: 'Load more' }).dispatchEvent('click');

export const untilToast = (page: Page, text: string | RegExp) =>
  page.locator('.toast').filter({ hasText: text }).waitFor();

/** The number of notes in each state. */
export const countNotesByState = async (service: Service) =>
  Object.fromEntries(
    (
      await service.database.pool.query(
        'SELECT state, count(*)::int AS count FROM notes GROUP BY state',
      )
    ).rows.map(({ state, count }) => [state, count]),
  );
