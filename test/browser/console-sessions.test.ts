import type { Page } from 'playwright-core';
import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import {
  checkAppearance,
  holdRequest,
  intercept,
  NEEDS_BROWSER,
  untilEqual,
  untilHandled,
  untilTrue,
  visit,
} from '../support/browser.ts';
import { openConsole, openConsoleWithNotes, signIn, untilToast } from '../support/console.ts';
import { type Service, startService } from '../support/service.ts';

/** Ends the session at the decision, not at another request of the page. */
const endAtDecision = (service: Service, page: Page) =>
  intercept(
    page,
    '**/decisions',
    async (route) => {
      await service.database.pool.query('DELETE FROM moderator_sessions');
      await route.continue();
    },
    { times: 1 },
  );

t.test('asks for a session only where a moderator has signed in', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  // No refusal is expected: the browser would log it as an error.
  const { page } = await visit(t, `${service.baseUrl}/moderation`);
  await page.getByLabel('Token').waitFor();
  await signIn(page, ann);
  await page.getByRole('heading', { name: 'To do', level: 2 }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'To do', level: 2 }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Moderation', exact: true }).waitFor();
  t.equal(await page.getByText('Signed out.').count(), 0, 'nothing was decided');
  await page.reload();
  await page.getByLabel('Token').waitFor();
});

t.test('keeps work when a session ends; releases all on signing out', NEEDS_BROWSER, async (t) => {
  const { service, ann, notes, page } = await openConsoleWithNotes(t, ['Hello', 'Hello']);
  await page.keyboard.press('r');
  await page.getByLabel('Message to the author').fill('Half a thought');
  await endAtDecision(service, page);
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await page.getByLabel('Message to the author').press('Escape');
  await page.keyboard.press('1');
  await dialog.waitFor();
  await checkAppearance(t, page, 'moderation-session-lost');
  await signIn(page, ann);
  await untilToast(page, /^Rejected/);
  const { history } = (await ann.get(`notes/${notes[0]?.id}`)).body;
  t.match(
    history.at(-1),
    { text: 'Half a thought' },
    'the decision was sent once, after the sign-in',
  );

  await page.keyboard.press('n');
  await page.locator('.note .lease').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Moderation', exact: true }).waitFor();
  await page.getByText('Signed out. You decided on 1 item in 1 min.').waitFor();
  await checkAppearance(t, page, 'moderation-signed-out');
  t.same((await ann.get('me')).body.leases, []);
  t.equal((await service.database.pool.query('SELECT FROM moderator_sessions')).rowCount, 0);
  await page.reload();
  await page.getByLabel('Token').waitFor();
});

t.test('keeps the sign-in over the page and restores the focus', NEEDS_BROWSER, async (t) => {
  const { service, ann, page } = await openConsoleWithNotes(t, ['Hello']);
  await page.keyboard.press('r');
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await service.database.pool.query('DELETE FROM moderator_sessions');
  // Pretend that the tab becomes visible again.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.getByRole('dialog').waitFor();
  for (let times = 0; times < 5; times++) await page.keyboard.press('Escape');
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
  await untilEqual(t, () => page.locator('dialog:modal').count(), 1);
  await untilTrue(page, 'document.activeElement.name === "token"');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).focus();
  await page.keyboard.press('a');
  await signIn(page, ann);
  await untilTrue(page, 'document.activeElement.closest("[data-panel]") !== null');

  // In the same task, because a key after it would be a command.
  await page.getByLabel('Message to the author').fill('Half a th');
  await service.database.pool.query('DELETE FROM moderator_sessions');
  const focus = page.evaluate(`new Promise((resolve) => {
    const names = [];
    let asked = false;
    new MutationObserver(() => {
      if ((document.querySelector('dialog') !== null) === asked) return;
      asked = !asked;
      names.push(document.activeElement.name);
      if (names.length === 2) resolve(names);
    }).observe(document.body, { subtree: true, childList: true });
    document.dispatchEvent(new Event('visibilitychange'));
  })`);
  await page.getByRole('dialog').waitFor();
  await signIn(page, ann);
  t.same(await focus, ['token', 'message']);
  await page.getByLabel('Message to the author').press('Escape');
  await page.keyboard.press('1');
  await untilToast(page, /^Rejected/);
});

t.test('acts only for the moderator who signed in to the tab', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const { id } = await submit(service, { message: 'Whose?' });
  const { page } = await openConsole(t, service, ann);
  await page.keyboard.press('r');
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await page.getByLabel('Message to the author').fill('Of Ann');
  // Another tab signs in with the shared cookie while the decision is on its way.
  const signInBeside = `fetch('/api/moderation/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify({ token: lea.token }))},
  }).then(({ status }) => status)`;
  await intercept(
    page,
    '**/decisions',
    async (route) => {
      t.equal(await page.evaluate(signInBeside), 200);
      await route.continue();
    },
    { times: 1 },
  );
  await page.getByLabel('Message to the author').press('Escape');
  await page.keyboard.press('1');
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  t.match((await lea.get(`notes/${id}`)).body, { item: { state: 'pending' } });
  await signIn(page, ann);
  await untilToast(page, /^Rejected/);
  const { history } = (await ann.get(`notes/${id}`)).body;
  t.match(history.at(-1), { text: 'Of Ann', actor: { name: 'Ann' } });
});

t.test("never sends one moderator's decision as another", NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, ['Whose?']);
  const bob = await addModerator(service, 'Bob');
  await endAtDecision(service, page);
  await page.keyboard.press('a');
  await page.getByRole('dialog').waitFor();
  await signIn(page, bob);
  await page.locator('.who', { hasText: 'Bob' }).waitFor();
  await page.locator('.row', { hasText: 'Whose?' }).waitFor();
  const { rows } = await service.database.pool.query(`SELECT state FROM notes`);
  t.same(rows, [{ state: 'pending' }]);
});

t.test('ends the reads under way when a moderator signs out', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  // No refusal is expected: the browser would log it as an error.
  const { page } = await visit(t, `${service.baseUrl}/moderation`);
  await signIn(page, ann);
  await page.getByRole('heading', { name: 'To do', level: 2 }).waitFor();
  const read = await holdRequest(page, '**/api/moderation/queue**', 'request');
  await submit(service);
  await read.arrived;
  const aborted = page.waitForEvent('requestfailed', (request) =>
    request.url().includes('/api/moderation/queue'),
  );
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  // The session is gone, so the service would refuse the read.
  read.release();
  await aborted;
  await signIn(page, ann);
  await page.locator('.row').waitFor();
});

t.test('keeps a new session when an old response arrives', NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, ['Hello']);
  const bob = await addModerator(service, 'Bob');
  await page.locator('.row').waitFor();
  const oldRequest = await holdRequest(page, '**/api/moderation/claims', 'request');
  await page.keyboard.press('n');
  await oldRequest.arrived;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, bob);
  await page.locator('.row').waitFor();
  const answered = page.waitForResponse((response) => response.status() === 401);
  oldRequest.release();
  await untilHandled(page, answered);
  t.equal(await page.getByRole('dialog').count(), 0);
  await untilEqual(t, () => page.locator('.who', { hasText: 'Bob' }).count(), 1);
});

t.test("never retries one moderator's request for another", NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, ['Whose?']);
  const bob = await addModerator(service, 'Bob');
  await page.locator('.row').waitFor();
  const requested = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  await intercept(
    page,
    '**/decisions',
    async (route) => {
      requested.resolve();
      await failed.promise;
      await route.abort('connectionreset');
    },
    { times: 1 },
  );
  await page.keyboard.press('a');
  await requested.promise;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, bob);
  failed.resolve();
  await untilToast(page, 'Not approved. Another moderator has signed in.');
  t.same((await service.database.pool.query('SELECT state FROM notes')).rows, [
    { state: 'pending' },
  ]);
});
