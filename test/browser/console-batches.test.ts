import t, { type Test } from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { holdOne, intercept, look, NEEDS_BROWSER } from '../support/browser.ts';
import { consoleWith, currentText, numbered, REFUSED, states, toast } from '../support/console.ts';

/** A console in which these notes wait, or four. */
async function begin(t: Test, messages = ['One', 'Two', 'Three', 'Four']) {
  const { service, notes, page, context } = await consoleWith(t, messages);
  const bob = await addModerator(service, 'Bob');
  const ids = notes.map(({ id }) => id);
  await page
    .locator('.row')
    .nth(messages.length - 1)
    .waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const rows = () => page.locator('.row .excerpt').allTextContents();
  /** Approves what is selected, up to the toast. */
  const approve = async (says: string) => {
    await press('Shift+A');
    await page.getByRole('dialog').waitFor();
    await press('Enter');
    await toast(page, says);
  };
  return { service, bob, ids, page, context, press, rows, approve };
}

t.test(
  'a batch shows what it would do, says what it did, and is undone',
  NEEDS_BROWSER,
  async (t) => {
    const { service, bob, ids, page, press } = await begin(t, numbered(6, 'Buy'));
    await page.keyboard.press('Shift+R');
    await toast(page, 'Nothing is selected');
    await press('x', 'j', 'x', 'j', 'x', 'j');
    await page.getByText('3 notes selected').waitFor();
    await look(t, page, 'moderation-selection');
    await page.keyboard.press('Shift+R');
    const dialog = page.getByRole('dialog', { name: 'Reject 3 notes?' });
    for (const text of ['Buy 1', 'Buy 2', 'Buy 3']) await dialog.getByText(text).waitFor();
    t.same(await states(service), { pending: 6 }, 'nothing has run');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    t.same(await states(service), { pending: 6 });

    await page.keyboard.press('Shift+R');
    await dialog.waitFor();
    await press('j', 'a');
    t.equal(await dialog.count(), 1, 'no key means what is behind it');
    // Somebody is quicker on one of them.
    await bob.post('claims', { note_ids: [ids[1]] });
    await page.keyboard.press('1');
    await toast(page, /2 notes; 1 note refused/);
    t.same(await states(service), { pending: 4, rejected: 2 });
    await page.locator('.row', { hasText: 'Bob claimed it at' }).waitFor();
    await page.keyboard.press('u');
    await toast(page, /^Undone/);
    t.same(await states(service), { pending: 6 });

    await intercept(page, '**/decisions/batch', (route) => route.abort('connectionreset'));
    await page.keyboard.press('x');
    await page.keyboard.press('Shift+A');
    await page.getByRole('dialog').waitFor();
    await page
      .getByRole('button', { name: /^Approve/ })
      .last()
      .click();
    await toast(page, 'The batch may not have been saved. No answer');
  },
);

t.test(
  'what is refused is in the list, though that was read meanwhile',
  NEEDS_BROWSER,
  async (t) => {
    const { service, bob, ids, page, press } = await begin(t, numbered(3, 'Buy'));
    const batch = await holdOne(page, '**/decisions/batch', 'answer');
    await press('x', 'j', 'x', 'j', 'x', 'j');
    await page.keyboard.press('Shift+R');
    await page.getByRole('dialog').waitFor();
    await bob.post('claims', { note_ids: [ids[1]] });
    await page.keyboard.press('1');
    await submit(service, { message: 'One more' });
    await page.locator('.row', { hasText: 'One more' }).waitFor();
    batch.go();
    await toast(page, /2 notes; 1 note refused/);
    await page.locator('.row', { hasText: 'Bob claimed it at' }).waitFor();
  },
);

t.test('a batch leads on to what it leaves, or leads nowhere', NEEDS_BROWSER, async (t) => {
  const { page, press, rows, approve } = await begin(t);
  await press('x', 'j', 'j');
  await page.locator('.note .text', { hasText: 'Three' }).waitFor();
  await approve('Approved: 1 note');
  t.equal(await currentText(page), 'Three', 'what it is not about stays');
  await press('x', 'j', 'x');
  await approve('Approved: 2 notes');
  t.equal(await currentText(page), 'Two');
  t.same(await rows(), ['Two']);
});

t.test('what a batch is not for is left out, and said', NEEDS_BROWSER, async (t) => {
  const { bob, ids, page, press, approve } = await begin(t);
  await bob.post('claims', { note_ids: [ids[1]] });
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
  await press('x', 'j', 'x', 'Shift+A');
  await page.getByRole('dialog', { name: 'Approve 1 note?' }).waitFor();
  await page.getByText('1 selected note is left out').waitFor();
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await approve('Approved: 1 note');
  await page.getByRole('link', { name: /^Decided/ }).click();
  await page.locator('.row', { hasText: 'One' }).waitFor();
  await press('x', 'Shift+A');
  await toast(page, 'None of the selected notes allows this.');
});

t.test('a batch is sent once, and no older answer brings it back', NEEDS_BROWSER, async (t) => {
  const { service, page, press, rows } = await begin(t);
  let batches = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/decisions/batch')) batches++;
  });
  const list = await holdOne(page, '**/api/moderation/queue?**', 'answer');
  await submit(service, { message: 'Five' });
  await list.asked;
  const batch = await holdOne(page, '**/decisions/batch', 'request');
  await press('x', 'j', 'x', 'Shift+R');
  await page.getByRole('dialog').waitFor();
  await press('1');
  await batch.asked;
  await press('1');
  batch.go();
  await toast(page, /^Rejected: .*2 notes/);
  await list.arrive();
  await page.locator('.row', { hasText: 'Five' }).waitFor();
  t.same(await rows(), ['Three', 'Four', 'Five']);
  t.equal(batches, 1);
});

t.test('a batch is undone in its turn, and its notes are as before', NEEDS_BROWSER, async (t) => {
  const { ids, page, context, press, approve } = await begin(t);
  await press('n');
  await page.locator('.row', { hasText: 'One' }).getByText('Claimed by you').waitFor();
  await press('x');
  await approve('Approved: 1 note');
  await press('a');
  await toast(page, 'Approved “Two”');
  await press('u');
  await toast(page, 'Undone: “Two”');
  await press('u');
  await toast(page, 'Undone: Approved: 1 note');
  const one = page.locator('.row', { hasText: 'One' });
  await one.waitFor();
  await page.locator('.row', { hasText: 'Two' }).locator('.row-main').click();
  await one.locator('.row-main').click();
  await page.locator('.history li', { hasText: 'undone' }).waitFor();
  t.equal(await one.getByText('Claim lost').count(), 0, 'the claim ended with the decision');
  const other = await context.newPage();
  await other.goto(page.url());
  await other.locator('.row').nth(3).waitFor();
  await other.evaluate(`fetch('/api/moderation/claims', { method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '${JSON.stringify({ note_ids: [ids[0]] })}' }).then(({ status }) => status)`);
  await one.getByText('Claimed by you').waitFor();
});

t.test('what no batch decided can be claimed and decided', NEEDS_BROWSER, async (t) => {
  const { bob, ids, page, press } = await begin(t);
  await decide(bob, ids[3] ?? '', 'approve');
  await page.locator('.row:not(.gone)').nth(3).waitFor({ state: 'detached' });
  await intercept(page, '**/decisions/batch', (route) => route.fulfill(REFUSED));
  await press('x', 'Shift+A');
  await page.getByRole('dialog').waitFor();
  await press('Enter');
  await toast(page, 'Nothing was decided');
  await press('j');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await press('n');
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await page.locator('.note .lease').waitFor();
});

t.test('all that is shown is selected at once, and a hundred decided', NEEDS_BROWSER, async (t) => {
  const { service, page } = await consoleWith(t, numbered(101));
  for (const shown of [50, 100]) {
    await page.locator(`.row[aria-setsize="${shown}"]`).first().waitFor();
    await page.getByRole('button', { name: 'More' }).click();
  }
  await page.locator('.row[aria-setsize="101"]').first().waitFor();
  await page.keyboard.press('x');
  const all = page.getByRole('button', { name: 'Select all 101' });
  await all.click();
  await page.getByText('101 notes selected').waitFor();
  t.equal(await all.count(), 0, 'there is no more');
  await page.keyboard.press('Shift+A');
  await page.getByRole('dialog', { name: 'Approve 100 notes?' }).waitFor();
  await page.getByText('1 selected note is left out').waitFor();
  await page.keyboard.press('Enter');
  await toast(page, 'Approved: 100 notes');
  t.same(await states(service), { pending: 1, approved: 100 });
  await page.getByText('1 note selected').waitFor();
});
