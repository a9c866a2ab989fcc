import t, { type Test } from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import {
  checkAppearance,
  holdRequest,
  intercept,
  NEEDS_BROWSER,
  untilEqual,
} from '../support/browser.ts';
import {
  CONFLICT_RESPONSE,
  countNotesByState,
  currentText,
  loadMore,
  numberedTexts,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';

/** Opens a console with these notes, or four. */
async function openBatchConsole(t: Test, messages = ['One', 'Two', 'Three', 'Four']) {
  const { service, notes, page, context } = await openConsoleWithNotes(t, messages);
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
  /** Approves the selected notes and waits for the toast. */
  const approve = async (says: string) => {
    await press('Shift+A');
    await page.getByRole('dialog').waitFor();
    await press('Enter');
    await untilToast(page, says);
  };
  return { service, bob, ids, page, context, press, rows, approve };
}

t.test('previews a batch, reports its results and undoes it', NEEDS_BROWSER, async (t) => {
  const { service, bob, ids, page, press } = await openBatchConsole(t, numberedTexts(6, 'Buy'));
  await page.keyboard.press('Shift+R');
  await untilToast(page, 'Nothing is selected');
  await press('x', 'j', 'x', 'j', 'x', 'j');
  await page.getByText('3 notes selected').waitFor();
  await checkAppearance(t, page, 'moderation-selection');
  await page.keyboard.press('Shift+R');
  const dialog = page.getByRole('dialog', { name: 'Reject 3 notes?' });
  for (const text of ['Buy 1', 'Buy 2', 'Buy 3']) await dialog.getByText(text).waitFor();
  t.same(await countNotesByState(service), { pending: 6 }, 'the preview decides nothing');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  t.same(await countNotesByState(service), { pending: 6 });

  await page.keyboard.press('Shift+R');
  await dialog.waitFor();
  await press('j', 'a');
  t.equal(await dialog.count(), 1, 'keys do not reach the list behind the dialog');
  // Bob claims one of them first.
  await bob.post('claims', { note_ids: [ids[1]] });
  await page.keyboard.press('1');
  await untilToast(page, /2 notes; 1 note refused/);
  t.same(await countNotesByState(service), { pending: 4, rejected: 2 });
  await page.locator('.row', { hasText: 'Bob claimed it at' }).waitFor();
  await page.keyboard.press('u');
  await untilToast(page, /^Undone/);
  t.same(await countNotesByState(service), { pending: 6 });

  await intercept(page, '**/decisions/batch', (route) => route.abort('connectionreset'));
  await page.keyboard.press('x');
  await page.keyboard.press('Shift+A');
  await page.getByRole('dialog').waitFor();
  await page
    .getByRole('button', { name: /^Approve/ })
    .last()
    .click();
  await untilToast(page, 'The batch may not have been saved. No answer');
});

t.test('shows refused notes although the list was read meanwhile', NEEDS_BROWSER, async (t) => {
  const { service, bob, ids, page, press } = await openBatchConsole(t, numberedTexts(3, 'Buy'));
  const batch = await holdRequest(page, '**/decisions/batch', 'answer');
  await press('x', 'j', 'x', 'j', 'x', 'j');
  await page.keyboard.press('Shift+R');
  await page.getByRole('dialog').waitFor();
  await bob.post('claims', { note_ids: [ids[1]] });
  await page.keyboard.press('1');
  await submit(service, { message: 'One more' });
  await page.locator('.row', { hasText: 'One more' }).waitFor();
  batch.release();
  await untilToast(page, /2 notes; 1 note refused/);
  await page.locator('.row', { hasText: 'Bob claimed it at' }).waitFor();
});

t.test('moves to the next remaining note after a batch', NEEDS_BROWSER, async (t) => {
  const { page, press, rows, approve } = await openBatchConsole(t);
  await press('x', 'j', 'j');
  await page.locator('.note .text', { hasText: 'Three' }).waitFor();
  await approve('Approved: 1 note');
  await untilEqual(t, () => currentText(page), 'Three', 'the current note stays');
  await press('x', 'j', 'x');
  await approve('Approved: 2 notes');
  await untilEqual(t, () => currentText(page), 'Two');
  await untilEqual(t, () => rows(), ['Two']);
});

t.test('leaves out notes that do not allow the batch and says so', NEEDS_BROWSER, async (t) => {
  const { bob, ids, page, press, approve } = await openBatchConsole(t);
  await bob.post('claims', { note_ids: [ids[1]] });
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
  await press('x', 'j', 'x', 'Shift+A');
  await page.getByRole('dialog', { name: 'Approve 1 note?' }).waitFor();
  await page.getByText('over the limit of 100: 1 selected note.').waitFor();
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await approve('Approved: 1 note');
  await page.getByRole('link', { name: /^Decided/ }).click();
  await page.locator('.row', { hasText: 'One' }).waitFor();
  await press('x', 'Shift+A');
  await untilToast(page, 'None of the selected notes allows this.');
});

t.test('sends a batch once and ignores an older list', NEEDS_BROWSER, async (t) => {
  const { service, page, press, rows } = await openBatchConsole(t);
  let batches = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/decisions/batch')) batches++;
  });
  const list = await holdRequest(page, '**/api/moderation/queue?**', 'answer');
  await submit(service, { message: 'Five' });
  await list.arrived;
  const batch = await holdRequest(page, '**/decisions/batch', 'request');
  await press('x', 'j', 'x', 'Shift+R');
  await page.getByRole('dialog').waitFor();
  await press('1');
  await batch.arrived;
  await press('1');
  batch.release();
  await untilToast(page, /^Rejected: .*2 notes/);
  await list.deliver();
  await page.locator('.row', { hasText: 'Five' }).waitFor();
  await untilEqual(t, () => rows(), ['Three', 'Four', 'Five']);
  t.equal(batches, 1);
});

t.test('undoes a batch in its turn and restores its notes', NEEDS_BROWSER, async (t) => {
  const { ids, page, context, press, approve } = await openBatchConsole(t);
  await press('n');
  await page.locator('.row', { hasText: 'One' }).getByText('Claimed by you').waitFor();
  await press('x');
  await approve('Approved: 1 note');
  await press('a');
  await untilToast(page, 'Approved “Two”');
  await press('u');
  await untilToast(page, 'Undone: “Two”');
  await press('u');
  await untilToast(page, 'Undone: Approved: 1 note');
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

t.test('allows a claim and decision after a failed batch', NEEDS_BROWSER, async (t) => {
  const { bob, ids, page, press } = await openBatchConsole(t);
  await decide(bob, ids[3] ?? '', 'approve');
  await page.locator('.row:not(.gone)').nth(3).waitFor({ state: 'detached' });
  await intercept(page, '**/decisions/batch', (route) => route.fulfill(CONFLICT_RESPONSE));
  await press('x', 'Shift+A');
  await page.getByRole('dialog').waitFor();
  await press('Enter');
  await untilToast(page, 'Nothing was decided');
  await press('j');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await press('n');
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await page.locator('.note .lease').waitFor();
});

t.test('selects all shown notes and decides a hundred of them', NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, numberedTexts(101));
  for (const shown of [50, 100]) {
    await page.locator(`.row[aria-setsize="${shown}"]`).first().waitFor();
    await loadMore(page);
  }
  await page.locator('.row[aria-setsize="101"]').first().waitFor();
  await page.keyboard.press('x');
  const all = page.getByRole('button', { name: 'Select all 101' });
  await all.click();
  await page.getByText('101 notes selected').waitFor();
  await untilEqual(t, () => all.count(), 0, 'the button disappears');
  await page.keyboard.press('Shift+A');
  await page.getByRole('dialog', { name: 'Approve 100 notes?' }).waitFor();
  await page.getByText('over the limit of 100: 1 selected note.').waitFor();
  await page.keyboard.press('Enter');
  await untilToast(page, 'Approved: 100 notes');
  t.same(await countNotesByState(service), { pending: 1, approved: 100 });
  await page.getByText('1 note selected').waitFor();
});

t.test('leads back to the first note after the undo of a batch', NEEDS_BROWSER, async (t) => {
  const texts = numberedTexts(12, 'Buy');
  const { page, press } = await openBatchConsole(t, texts);
  await press('x', 'j', 'x', 'Shift+R');
  await page.getByRole('dialog').waitFor();
  await press('1');
  await untilToast(page, /2 notes/);
  await untilEqual(t, () => currentText(page), 'Buy 3');
  await press('u');
  await untilToast(page, /^Undone/);
  await untilEqual(t, () => currentText(page), 'Buy 1');
  await untilEqual(
    t,
    () =>
      page.evaluate(`(() => {
        const top = (place) => document.querySelector(place).getBoundingClientRect().top;
        return top('.row.here') >= top('.list-scroll');
      })()`),
    true,
    'in sight',
  );
});

t.test('undoes the decisions on a selection of decided notes', NEEDS_BROWSER, async (t) => {
  const { service, page, press, approve } = await openBatchConsole(t);
  await press('x', 'j', 'x', 'j', 'x');
  await approve('Approved: 3 notes');
  await page.getByRole('link', { name: /^Decided/ }).click();
  await page.locator('.row').nth(2).waitFor();
  await press('x', 'j', 'x');
  const selection = page.locator('.selection');
  await untilEqual(t, () => selection.getByRole('button', { name: 'Approve' }).count(), 0);
  await checkAppearance(t, page, 'moderation-undo-selection');
  await selection.getByRole('button', { name: 'Undo 2 decisions' }).click();
  await untilToast(page, 'Undone: 2 decisions');
  t.same(await countNotesByState(service), { approved: 1, pending: 3 });
  await selection.waitFor({ state: 'detached' });
});
