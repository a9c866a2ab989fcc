import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { hire, type Moderator, submit } from '../../harness/moderation.ts';
import { handled, visit } from './browser.ts';
import { type Service, startService } from './service.ts';

// Refusals that a console is told of and shows; the browser logs every one of them.
const REFUSALS =
  /status of (401|409)|ERR_FAILED|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION/;

/** What a request that a test refuses is answered. */
export const REFUSED = { status: 409, json: { error: { code: 'conflict', message: 'No.' } } };

export async function signIn(page: Page, moderator: Pick<Moderator, 'token'>): Promise<void> {
  await page.getByLabel('Token').fill(moderator.token);
  await page.keyboard.press('Enter');
  await page.getByLabel('Token').waitFor({ state: 'detached' });
}

/** The console of a moderator who has signed in, in a browser profile of its own. */
export async function openConsole(
  t: Test,
  service: Service,
  moderator: Moderator,
  options: { first?: string } = {},
) {
  const { page, context } = await visit(t, `${service.baseUrl}/moderation`, {
    expected: REFUSALS,
    ...options,
  });
  const policies = page.waitForResponse('**/api/moderation/policies');
  await signIn(page, moderator);
  await page.getByRole('heading', { name: 'To do', level: 2 }).waitFor();
  await page.locator('.stream.live').waitFor();
  // A key means something once there is a present row, or none; a number, once there are policies.
  await page.locator('.rows, .empty').waitFor();
  await handled(page, policies);
  return { page, context };
}

/** The console of Ann, a moderator, in which these notes wait. */
export async function consoleWith(t: Test, messages: readonly string[]) {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  const notes = [];
  for (const message of messages) notes.push(await submit(service, { message }));
  return { service, ann, notes, ...(await openConsole(t, service, ann)) };
}

/** What so many notes say, each with its number. */
export const numbered = (count: number, text = 'Note'): string[] =>
  Array.from({ length: count }, (_, before) => `${text} ${before + 1}`);

/** What the present row is called. */
export const currentText = (page: Page): Promise<string | null> =>
  page.locator('.note .text').textContent();

export const toast = (page: Page, text: string | RegExp) =>
  page.locator('.toast').filter({ hasText: text }).waitFor();

/** How many notes are in each state. */
export const states = async (service: Service) =>
  Object.fromEntries(
    (
      await service.database.pool.query(
        'SELECT state, count(*)::int AS count FROM notes GROUP BY state',
      )
    ).rows.map(({ state, count }) => [state, count]),
  );
