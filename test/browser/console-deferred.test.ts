import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  currentText,
  numberedTexts,
  openConsole,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';
import { startService } from '../support/service.ts';

const inHours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();

t.test('undoes a deferral and an escalation by key', NEEDS_BROWSER, async (t) => {
  const { ann, notes, page } = await openConsoleWithNotes(t, numberedTexts(3));
  const item = async (id = '') => (await ann.get(`notes/${id}`)).body.item;
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await untilToast(page, 'Deferred “Note 1”');
  await page.locator('.toast').getByRole('button', { name: 'Undo (u)' }).waitFor();
  t.match(await item(notes[0]?.id), { deferred_until: String });
  await page.keyboard.press('u');
  await untilToast(page, 'Undone: “Note 1”');
  t.match(await item(notes[0]?.id), { deferred_until: null });
  await untilEqual(t, () => currentText(page), 'Note 1');

  await page.keyboard.press('e');
  await page.getByLabel('Message to the lead').fill('Hard');
  await page.keyboard.press('Enter');
  await untilToast(page, 'Escalated “Note 1”');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await untilToast(page, 'Undone: “Note 1”');
  t.match(await item(notes[0]?.id), { tier: 'normal' });
});

t.test('counts, lists, finds and returns deferred notes', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const notes: { id: string }[] = [];
  for (const message of numberedTexts(4)) notes.push(await submit(service, { message }));
  // A lead may bring back what others deferred.
  const { page } = await openConsole(t, service, await addModerator(service, 'Ann', 'lead'));
  const bob = await addModerator(service, 'Bob', 'triage');
  const defer = (id = '', until = inHours(2)) =>
    bob.post(`notes/${id}/decisions`, { action: 'defer', expected_version: 1, until });
  for (const note of notes.slice(1)) await defer(note.id);
  const link = page.getByRole('link', { name: /^Deferred/ });
  await link.filter({ hasText: '3' }).waitFor();
  await page.locator('.row:not(.gone)').nth(1).waitFor({ state: 'detached' });

  await page.locator('#search').fill('note');
  await page.keyboard.press('Enter');
  await page
    .locator('.row', { hasText: 'Note 2' })
    .getByText(/^Until /)
    .waitFor();
  await untilEqual(t, () => page.locator('.row').count(), 4, 'a search includes deferred notes');

  await link.click();
  await page.locator('.row').nth(2).waitFor();
  await page.locator('.decision', { hasText: 'Deferred by Bob' }).waitFor();
  await checkAppearance(t, page, 'moderation-deferred');
  await page.keyboard.press('u');
  await untilToast(page, 'Brought back: “Note 2”');
  await untilEqual(t, () => currentText(page), 'Note 3', 'the next note is current');
  await page.locator('.row').nth(2).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Bring back u' }).click();
  await untilToast(page, 'Brought back: “Note 3”');
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “Note 4”');
  await page.getByText('Nothing is deferred.').waitFor();
  await page.getByRole('link', { name: /^To do/ }).click();
  await page.locator('.row').nth(2).waitFor();
  await untilEqual(t, () => page.locator('.row .excerpt').allTextContents(), [
    'Note 1',
    'Note 2',
    'Note 3',
  ]);
});
