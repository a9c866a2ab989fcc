import type { Test } from 'tap';
import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { holdRequest, intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { currentText, openConsole, signIn, untilToast } from '../support/console.ts';
import { advanceTime } from '../support/passing-time.ts';
import { startService } from '../support/service.ts';

/** Opens a console for a lead, with some notes and another moderator. */
async function openLeadConsole(t: Test, ...texts: string[]) {
  const service = await startService(t);
  const [lea, bob] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Bob'),
  ];
  const ids: string[] = [];
  for (const message of texts) ids.push((await submit(service, { message })).id);
  const { page } = await openConsole(t, service, lea);
  await page
    .locator('.row')
    .nth(texts.length - 1)
    .waitFor();
  const states = async () => {
    const items = await Promise.all(ids.map((id) => bob.get(`notes/${id}`)));
    return items.map(({ body }) => body.item.state).join(' ');
  };
  const open = (text: string) =>
    page.locator('.row', { hasText: text }).locator('.row-main').click();
  const show = (name: RegExp) => page.getByRole('link', { name }).click();
  return { service, page, bob, ids, states, open, show };
}

t.test("undoes the toast's decision before the current note's", NEEDS_BROWSER, async (t) => {
  const { page, bob, ids, states, open, show } = await openLeadConsole(t, 'One', 'Two', 'Three');
  for (const id of ids.slice(1)) await decide(bob, id, 'approve');
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  await show(/^Decided/);
  await open('Two');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “One”');
  t.equal(await states(), 'pending approved approved');
  await open('Three');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “Three”');
  t.equal(
    await states(),
    'pending approved pending',
    "without a toast, the current note's decision",
  );

  await show(/^To do/);
  await open('Three');
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “Three”');
  await show(/^Decided/);
  await open('Two');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await untilToast(page, 'Undone: “Three”');
  t.equal(await states(), 'pending approved pending');
});

t.test("undoes a note's decision by its own button", NEEDS_BROWSER, async (t) => {
  const { service, page, bob, ids, states, show } = await openLeadConsole(t, 'One', 'Two');
  await decide(bob, ids[1] ?? '', 'approve');
  await service.call('POST', `/api/guestbook/${ids[1]}/report`, { body: { reason: 'spam' } });
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  await show(/^Reported/);
  await page.locator('.bar').getByRole('button', { name: 'Undo' }).click();
  await untilToast(page, 'Undone: “Two”');
  t.equal(await states(), 'approved pending');
});

t.test('retries an undo that was not answered, and no other', NEEDS_BROWSER, async (t) => {
  const { page, states } = await openLeadConsole(t, 'One', 'Two');
  for (const text of ['One', 'Two']) {
    await page.keyboard.press('a');
    await untilToast(page, `Approved “${text}”`);
  }
  // The response is lost: the undo happened, but the page does not know.
  await intercept(page, '**/undo', async (route) => {
    await route.fetch();
    return route.abort('connectionreset');
  });
  await page.keyboard.press('u');
  await untilToast(page, 'The undo may not have been saved. No answer');
  await page.unroute('**/undo');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “Two”');
  t.equal(await states(), 'approved pending');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “One”');
  t.equal(await states(), 'pending pending');
});

t.test('repeats by itself what an overloaded service refuses', NEEDS_BROWSER, async (t) => {
  const { page, states } = await openLeadConsole(t, 'One');
  const keys: (string | undefined)[] = [];
  let overloaded = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/undo')) keys.push(request.headers()['idempotency-key']);
  });
  page.on('response', (response) => {
    if (response.url().endsWith('/undo') && response.status() === 503) overloaded++;
  });
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  const json = { error: { code: 'overloaded', message: 'Too many requests.' } };
  await intercept(page, '**/undo', (route) => route.fulfill({ status: 503, json }), { times: 1 });
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “One”');
  t.equal(await states(), 'pending');
  t.ok(overloaded > 0);
  t.equal(keys.length, overloaded + 1);
  t.equal(new Set(keys).size, 1, 'with the same key, so that it takes effect once');
});

t.test('does not move back when an undo is answered late', NEEDS_BROWSER, async (t) => {
  const { page, states } = await openLeadConsole(t, 'One', 'Two', 'Three');
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  const undo = await holdRequest(page, '**/undo', 'answer');
  await page.keyboard.press('u');
  await undo.arrived;
  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: 'Three' }).waitFor();
  undo.release();
  await untilToast(page, 'Undone: “One”');
  await page.locator('.row', { hasText: 'One' }).waitFor();
  await untilEqual(t, () => currentText(page), 'Three');
  t.equal(await states(), 'pending pending pending');
});

t.test('undoes two decisions on two quick presses', NEEDS_BROWSER, async (t) => {
  const { page, states } = await openLeadConsole(t, 'One', 'Two');
  for (const text of ['One', 'Two']) {
    await page.keyboard.press('a');
    await untilToast(page, `Approved “${text}”`);
  }
  const undo = await holdRequest(page, '**/undo', 'request');
  await page.keyboard.press('u');
  await undo.arrived;
  await page.keyboard.press('u');
  undo.release();
  await untilToast(page, 'Undone: “One”');
  t.equal(await states(), 'pending pending');
});

t.test('reports what cannot be undone before undoing an older one', NEEDS_BROWSER, async (t) => {
  const { page, bob, ids, states, open, show } = await openLeadConsole(t, 'One', 'Two');
  await decide(bob, ids[1] ?? '', 'approve');
  const remove = { action: 'remove', expected_version: 2, policy: 'spam' };
  await bob.post(`notes/${ids[1]}/decisions`, remove);
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  await show(/^Decided/);
  await open('Two');
  await page.getByRole('button', { name: 'Restore a' }).waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Restored “Two”');
  await show(/^To do/);
  await page.locator('.empty').waitFor();
  await page.keyboard.press('u');
  await untilToast(page, 'Cannot be undone: Restored “Two”');
  t.equal(await states(), 'approved approved');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “One”');
  t.equal(await states(), 'pending approved');
});

t.test('undoes answers to reports and to appeals', NEEDS_BROWSER, async (t) => {
  const { service, page, bob, ids, show } = await openLeadConsole(t, 'Reported');
  const author = await signedIn(service);
  const { id } = await submitAs(service, author, { message: 'Appealed' });
  await decide(bob, ids[0] ?? '', 'approve');
  await service.call('POST', `/api/guestbook/${ids[0]}/report`, { body: { reason: 'spam' } });
  await decide(bob, id, 'reject');
  await advanceTime(service, '601 seconds');
  await service.call('POST', `/api/guestbook/${id}/appeal`, {
    body: { text: 'Why?' },
    cookie: author.cookie,
  });
  const seen = async (of = '') => {
    const { state, reports, appeal } = (await bob.get(`notes/${of}`)).body.item;
    return [state, ...reports.map((one: { state: string }) => one.state), appeal?.state].join(' ');
  };

  await show(/^Reported/);
  await page.getByRole('button', { name: 'Keep a' }).waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Kept “Reported”');
  t.equal(await seen(ids[0]), 'approved kept ');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “Reported”');
  t.equal(await seen(ids[0]), 'approved open ');
  await page.getByRole('button', { name: 'Keep a' }).waitFor();

  await show(/^Appeals/);
  await page.getByRole('button', { name: 'Grant the appeal a' }).waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Appeal granted “Appealed”');
  t.equal(await seen(id), 'approved granted');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await untilToast(page, 'Undone: “Appealed”');
  t.equal(await seen(id), 'rejected open');

  await page.getByRole('button', { name: /^Uphold the decision/ }).click();
  await page.locator('.panel textarea').press('Control+Enter');
  await untilToast(page, 'Decision upheld “Appealed”');
  t.equal(await seen(id), 'rejected upheld');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “Appealed”');
  t.equal(await seen(id), 'rejected open');
});

t.test("does not undo the previous moderator's decision", NEEDS_BROWSER, async (t) => {
  const { service, page, states } = await openLeadConsole(t, 'One');
  const max = await addModerator(service, 'Max', 'lead');
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, max);
  await page.locator('.empty').waitFor();
  await page.keyboard.press('u');
  await untilToast(page, 'There is nothing to undo');
  t.equal(await states(), 'approved');
});
