import type { Test } from 'tap';
import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { holdOne, intercept, NEEDS_BROWSER } from '../support/browser.ts';
import { currentText, openConsole, signIn, toast } from '../support/console.ts';
import { startService } from '../support/service.ts';

/** A lead at the console, with some notes to decide on and a moderator beside. */
async function begin(t: Test, ...texts: string[]) {
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

t.test('among what is decided a toast undoes its own decision', NEEDS_BROWSER, async (t) => {
  const { page, bob, ids, states, open, show } = await begin(t, 'One', 'Two', 'Three');
  for (const id of ids.slice(1)) await decide(bob, id, 'approve');
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await toast(page, 'Approved “One”');
  await show(/^Decided/);
  await open('Two');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await page.keyboard.press('u');
  await toast(page, 'Undone: “One”');
  t.equal(await states(), 'pending approved approved');
  await open('Three');
  await page.keyboard.press('u');
  await toast(page, 'Undone: “Three”');
  t.equal(await states(), 'pending approved pending', 'without such a toast, the present one');

  await show(/^To do/);
  await open('Three');
  await page.keyboard.press('a');
  await toast(page, 'Approved “Three”');
  await show(/^Decided/);
  await open('Two');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await toast(page, 'Undone: “Three”');
  t.equal(await states(), 'pending approved pending');
});

t.test("a note's own button undoes what was decided on it", NEEDS_BROWSER, async (t) => {
  const { service, page, bob, ids, states, show } = await begin(t, 'One', 'Two');
  await decide(bob, ids[1] ?? '', 'approve');
  await service.call('POST', `/api/guestbook/${ids[1]}/report`, { body: { reason: 'spam' } });
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await toast(page, 'Approved “One”');
  await show(/^Reported/);
  await page.locator('.bar').getByRole('button', { name: 'Undo' }).click();
  await toast(page, 'Undone: “Two”');
  t.equal(await states(), 'approved pending');
});

t.test('an undo that met no network is tried again, and no other', NEEDS_BROWSER, async (t) => {
  const { page, states } = await begin(t, 'One', 'Two');
  for (const text of ['One', 'Two']) {
    await page.keyboard.press('a');
    await toast(page, `Approved “${text}”`);
  }
  // Its answer is lost: it was undone, and nobody here knows.
  await intercept(page, '**/undo', async (route) => {
    await route.fetch();
    return route.abort('connectionreset');
  });
  await page.keyboard.press('u');
  await toast(page, 'The undo may not have been saved. No answer');
  await page.unroute('**/undo');
  await page.keyboard.press('u');
  await toast(page, 'Undone: “Two”');
  t.equal(await states(), 'approved pending');
  await page.keyboard.press('u');
  await toast(page, 'Undone: “One”');
  t.equal(await states(), 'pending pending');
});

t.test('who goes on before an undo is answered is not taken back', NEEDS_BROWSER, async (t) => {
  const { page, states } = await begin(t, 'One', 'Two', 'Three');
  await page.keyboard.press('a');
  await toast(page, 'Approved “One”');
  const undo = await holdOne(page, '**/undo', 'answer');
  await page.keyboard.press('u');
  await undo.asked;
  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: 'Three' }).waitFor();
  undo.go();
  await toast(page, 'Undone: “One”');
  await page.locator('.row', { hasText: 'One' }).waitFor();
  t.equal(await currentText(page), 'Three');
  t.equal(await states(), 'pending pending pending');
});

t.test('what is undone twice in haste is two decisions', NEEDS_BROWSER, async (t) => {
  const { page, states } = await begin(t, 'One', 'Two');
  for (const text of ['One', 'Two']) {
    await page.keyboard.press('a');
    await toast(page, `Approved “${text}”`);
  }
  const undo = await holdOne(page, '**/undo', 'request');
  await page.keyboard.press('u');
  await undo.asked;
  await page.keyboard.press('u');
  undo.go();
  await toast(page, 'Undone: “One”');
  t.equal(await states(), 'pending pending');
});

t.test('what cannot be undone is said before an older one is undone', NEEDS_BROWSER, async (t) => {
  const { service, page, bob, ids, states, show } = await begin(t, 'One', 'Two');
  await decide(bob, ids[1] ?? '', 'approve');
  await service.call('POST', `/api/guestbook/${ids[1]}/report`, { body: { reason: 'spam' } });
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await toast(page, 'Approved “One”');
  await show(/^Reported/);
  await page.getByRole('button', { name: 'Keep a' }).waitFor();
  await page.keyboard.press('a');
  await toast(page, 'Kept “Two”');
  await page.keyboard.press('u');
  await toast(page, 'Cannot be undone: Kept “Two”');
  t.equal(await states(), 'approved approved');
  await page.keyboard.press('u');
  await toast(page, 'Undone: “One”');
  t.equal(await states(), 'pending approved');
});

t.test('what one moderator decided is not undone by the next', NEEDS_BROWSER, async (t) => {
  const { service, page, states } = await begin(t, 'One');
  const max = await addModerator(service, 'Max', 'lead');
  await page.keyboard.press('a');
  await toast(page, 'Approved “One”');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, max);
  await page.locator('.empty').waitFor();
  await page.keyboard.press('u');
  await toast(page, 'There is nothing to undo');
  t.equal(await states(), 'approved');
});
