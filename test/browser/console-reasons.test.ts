import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual, untilTrue } from '../support/browser.ts';
import {
  countNotesByState,
  currentText,
  numberedTexts,
  openConsole,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';
import { advanceTime } from '../support/passing-time.ts';
import { startService } from '../support/service.ts';

t.test("names another's decision and moves on", NEEDS_BROWSER, async (t) => {
  const { service, notes, page } = await openConsoleWithNotes(t, numberedTexts(3));
  const bob = await addModerator(service, 'Bob');
  await decide(bob, notes[0]?.id ?? '', 'approve');
  // The present note stays in its place.
  await page.locator('.row', { hasText: 'Note 1' }).getByText('approved').waitFor();
  await page.keyboard.press('a');
  await untilToast(page, /Bob approved it at .*\d.* “Note 1”/);
  await untilEqual(t, () => currentText(page), 'Note 2');
  await page.locator(`#row-${notes[1]?.id}:focus`).waitFor();

  await bob.post('claims', { note_ids: [notes[1]?.id] });
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
  for (const key of ['a', 'r', 'e', 'd']) {
    await page.locator('.toast').getByRole('button', { name: 'Dismiss' }).click();
    await page.keyboard.press(key);
    await untilToast(page, /Bob claimed it at .*\d/);
    await untilEqual(t, () => currentText(page), 'Note 2', 'what is not decided stays');
  }
  await checkAppearance(t, page, 'moderation-held');
});

t.test(
  "does not count an appeal against the moderator's own decision",
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
    const member = await signedIn(service);
    const { cookie } = member;
    const { id } = await submitAs(service, member, { message: 'Buy my book' });
    await decide(ann, id, 'reject');
    await advanceTime(service, '11 minutes');
    const body = { text: 'It is free.' };
    await service.call('POST', `/api/guestbook/${id}/appeal`, { body, cookie });

    const { page } = await openConsole(t, service, ann);
    const appeals = page.getByRole('link', { name: /^Appeals/ });
    await appeals.filter({ hasText: '0' }).waitFor();
    await appeals.click();
    const reason = 'You made this decision, so another moderator must decide the appeal.';
    await page.locator('.bar', { hasText: reason }).waitFor();
    await checkAppearance(t, page, 'moderation-own-appeal');
    await page.keyboard.press('a');
    await untilToast(page, reason);

    const other = await openConsole(t, service, bob);
    await other.page
      .getByRole('link', { name: /^Appeals/ })
      .filter({ hasText: '1' })
      .click();
    await other.page.getByRole('button', { name: 'Grant the appeal' }).waitFor();
    await untilEqual(t, () => other.page.locator('.bar button').allTextContents(), [
      'Grant the appeal a',
      'Uphold the decision r',
      'Claim',
    ]);
  },
);

t.test('lists all notes of a batch and preselects no policy', NEEDS_BROWSER, async (t) => {
  const { service, notes, page } = await openConsoleWithNotes(
    t,
    numberedTexts(8, 'Buy http://1.2.3.4'),
  );
  for (const { id } of notes) await screenNote(service.core, { note_id: id });
  await page.locator('.row .tag.spam, .row .tag.look').nth(7).waitFor();
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Select all 8' }).click();
  await page.keyboard.press('Shift+R');
  const dialog = page.getByRole('dialog', { name: 'Reject 8 notes?' });
  await dialog.waitFor();
  const chosen = dialog.getByRole('list', { name: 'Notes to decide on' }).getByRole('listitem');
  await untilEqual(t, () => chosen.count(), 8);
  t.match(await chosen.nth(7).textContent(), /Buy http:\/\/1\.2\.3\.4 8.*link/i);
  await checkAppearance(t, page, 'moderation-batch-all');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  t.equal(await dialog.count(), 1);
  t.same(await countNotesByState(service), { pending: 8 }, 'no key but a number chooses a policy');
  await untilTrue(page, '!document.activeElement.closest(".policies")');
  await page.keyboard.press('1');
  await untilToast(page, /8 notes/);
  t.same(await countNotesByState(service), { rejected: 8 });
});

t.test('puts the button that keeps an item first, also on a phone', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { message: 'Old news' });
  await decide(ann, note.id, 'approve');
  await service.call('POST', `/api/guestbook/${note.id}/report`, { body: { reason: 'spam' } });
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Reported/ }).click();
  const places = async () =>
    (
      await Promise.all(
        ['Keep a', 'Remove r'].map((name) => page.getByRole('button', { name }).boundingBox()),
      )
    ).map((box) => (box?.y ?? 0) * 10_000 + (box?.x ?? 0));
  await page.getByRole('button', { name: 'Keep a' }).waitFor();
  const [keep = 0, remove = 0] = await places();
  t.ok(keep < remove);
  await page.keyboard.press('x');
  await untilEqual(t, () => page.locator('.selection .row-buttons button').allTextContents(), [
    'Keep… ⇧A',
    'Remove… ⇧R',
  ]);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.locator('.row-main').click();
  await page.locator('.bar').waitFor();
  const [first = 0, second = 0] = await places();
  t.ok(first < second);
});
