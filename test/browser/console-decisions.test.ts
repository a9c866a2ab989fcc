import t from 'tap';
import { addModerator, decide, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  countNotesByState,
  currentText,
  numberedTexts,
  openConsole,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';
import { startGuestbook } from '../support/guestbook-page.ts';

const LOADS = 'performance.getEntriesByType("navigation").length';

t.test('decides on a hundred notes by keys, without a page load', NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, numberedTexts(100));
  let loads = 0;
  page.on('framenavigated', () => loads++);
  await page.evaluate(`document.addEventListener('pointerdown', () => { throw Error('a mouse') })`);
  for (let n = 1; n <= 100; n++) {
    await page.locator('.note .text', { hasText: new RegExp(`^Note ${n}$`) }).waitFor();
    if (n % 5 === 0) {
      await page.keyboard.press('r');
      await page.locator('.panel').waitFor();
      await page.keyboard.press('1');
    } else if (n % 10 === 3) {
      await page.keyboard.press('n');
      await page.locator('.note .lease').waitFor();
      await page.keyboard.press('a');
    } else await page.keyboard.press('a');
  }
  await page.getByText('The queue is clear.').waitFor();
  await t.resolves(page.getByText('Last decision').waitFor());
  t.same(await countNotesByState(service), { approved: 80, rejected: 20 });
  t.equal(loads, 0);
  t.equal(await page.evaluate(LOADS), 1);
  const { rows } = await service.database.pool.query('SELECT FROM note_leases');
  t.equal(rows.length, 0, 'no claim is left behind');
});

t.test('rejects with a message, defers, escalates and undoes', NEEDS_BROWSER, async (t) => {
  const { service, ann, notes, page } = await openConsoleWithNotes(t, numberedTexts(3));
  const [one, two, three] = notes;
  await page.getByText('Note 1', { exact: true }).last().waitFor();

  await page.keyboard.press('r');
  const word = page.getByLabel('Message to the author');
  await word.fill('Please do not a r e n u');
  await word.press('Escape');
  await untilEqual(t, () => page.locator('.panel').count(), 1, 'Esc leaves the field first');
  await page.keyboard.press('1');
  await untilToast(page, /Rejected: .* ?spam/i);
  const history = async (id = '') => (await ann.get(`notes/${id}`)).body.history;
  t.match((await history(one?.id)).at(-1), {
    type: 'NoteRejected',
    text: 'Please do not a r e n u',
  });
  await untilEqual(t, () => currentText(page), 'Note 2');
  await page.locator(`#row-${two?.id}:focus`).waitFor();

  await page.keyboard.press('u');
  await untilToast(page, 'Undone');
  await untilEqual(t, () => currentText(page), 'Note 1');
  t.match((await history(one?.id)).at(-1), { type: 'DecisionUndone' });
  t.same(await countNotesByState(service), { pending: 3 });
  await page.keyboard.press('r');
  t.equal(await word.inputValue(), '', 'what was sent is no draft any more');
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });

  await page.keyboard.press('j');
  await page.keyboard.press('d');
  await page.keyboard.press('2');
  await untilToast(page, 'Deferred');
  t.match((await history(two?.id)).at(-1), { type: 'NoteDeferred' });
  await untilEqual(t, () => currentText(page), 'Note 3');
  await page.keyboard.press('e');
  await page.getByLabel('Message to the lead').fill('A lawyer should look');
  await page.keyboard.press('Enter');
  await untilToast(page, 'Escalated');
  t.match((await history(three?.id)).at(-1), { text: 'A lawyer should look' });
  await untilEqual(t, () => currentText(page), 'Note 1');
  await page
    .getByRole('link', { name: /^Escalated/ })
    .filter({ hasText: '1' })
    .waitFor();
});

t.test('requests the next note only after the decision has arrived', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, numberedTexts(2));
  await page.locator('.row').nth(1).waitFor();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await intercept(page, '**/decisions', async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest('**/decisions');
  await page.keyboard.press('a');
  await asked;
  await page.keyboard.press('n');
  // The help is drawn after the key before it was dealt with.
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  release();
  await page.locator('.note .lease').waitFor();
  await untilEqual(t, () => currentText(page), 'Note 2');
  await untilEqual(t, () => page.locator('.row').count(), 1);
});

t.test('counts own decisions as they are made', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, numberedTexts(4));
  // A count that the service made before a decision may come after its answer, for some seconds.
  await page.route('**/api/moderation/stream', () => undefined);
  await page.reload();
  const count = (view: string) => page.locator('.views a', { hasText: view }).innerText();
  await page.locator('.row').nth(3).waitFor();
  t.match(await count('To do'), /4/);
  await page.keyboard.press('n');
  await page.locator('.note .lease').waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “Note 1”');
  t.match(await count('To do'), /3/, 'with the confirmation, not with the next message');
  t.match(await count('Mine'), /0/);
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await untilToast(page, 'Deferred “Note 2”');
  t.match(await count('To do'), /2/);
  t.match(await count('Deferred'), /1/);
});

t.test(
  'counts an own decision once where the new count comes before the answer',
  NEEDS_BROWSER,
  async (t) => {
    const { page } = await openConsoleWithNotes(t, numberedTexts(4));
    const todo = page.locator('.views a', { hasText: 'To do' });
    await page.route('**/api/moderation/notes/*/decisions', async (route) => {
      const response = await route.fetch();
      await todo.filter({ hasText: '3' }).waitFor();
      await route.fulfill({ response });
    });
    await todo.filter({ hasText: '4' }).waitFor();
    await page.keyboard.press('a');
    await untilToast(page, 'Approved “Note 1”');
    t.match(await todo.innerText(), /3/);
  },
);

t.test('names decisions, reasons and actors in the history', NEEDS_BROWSER, async (t) => {
  const settings = { UNDO_WINDOW_SECONDS: '0' };
  const service = await startGuestbook(t, settings);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const { id } = await submitAs(service, member, { message: 'Off the point' });
  await decide(ann, id, 'approve');
  const report = { body: { reason: 'privacy' } };
  await service.call('POST', `/api/guestbook/${id}/report`, report);
  const { version } = (await ann.get(`notes/${id}`)).body.item;
  const removal = { action: 'remove', policy: 'off_topic', expected_version: version };
  t.equal((await ann.post(`notes/${id}/decisions`, removal)).status, 201);
  const events = async () => (await ann.get(`notes/${id}`)).body.history;
  const told = async () =>
    (await events()).some(({ type }: { type: string }) => type === 'DecisionTold');
  while (!(await told())) await service.call('GET', '/livez');
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Decided/ }).click();
  const history = page.locator('.history');
  await history.getByText('author notified').waitFor();
  const lines = (await history.locator('li').allInnerTexts()).join('\n');
  t.match(lines, /removed \(off topic\) by Ann/);
  t.match(lines, /reported \(someone's private details\) by a guest/);
  t.match(lines, /author notified$/m, 'by a job, not by a moderator');
  t.match(await page.locator('.flags').innerText(), /Reported as someone's private details/);
});
