import t, { type Test } from 'tap';
import { countClaims } from '../../harness/moderation.ts';
import { NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  currentText,
  numberedTexts,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';

/** Opens a console with this many notes, and counts the approved ones. */
async function openConsoleWithCount(t: Test, count: number) {
  const { service, ann, page } = await openConsoleWithNotes(t, numberedTexts(count));
  await page
    .locator('.row')
    .nth(count - 1)
    .waitFor();
  const countApproved = async () =>
    (await service.database.pool.query(`SELECT FROM notes WHERE state = 'approved'`)).rowCount;
  return { ann, page, approved: countApproved };
}

t.test('decides and claims once on a double click', NEEDS_BROWSER, async (t) => {
  const { ann, page, approved } = await openConsoleWithCount(t, 5);
  await page.locator('.bar').getByRole('button', { name: 'Approve' }).dblclick();
  await untilToast(page, 'Approved “Note 1”');
  await untilEqual(t, () => currentText(page), 'Note 2');
  // A touch screen may report two taps as two first clicks.
  const twice = (shift: number) =>
    page.evaluate(`for (const clientX of [300, 300 + ${shift}])
      document.querySelector('.bar .primary').dispatchEvent(
        new MouseEvent('click', { bubbles: true, detail: 1, clientX, clientY: 300 }))`);
  await twice(20);
  await untilToast(page, 'Approved “Note 2”');
  await untilEqual(t, () => currentText(page), 'Note 3');
  const claimed = page.waitForResponse('**/api/moderation/claims');
  await page.getByRole('button', { name: 'Claim next' }).dblclick();
  await claimed;
  await page.locator('.note .lease').waitFor();
  t.equal(await countClaims(ann), 1);
  t.equal(await approved(), 2);
  await twice(60);
  await page.locator('.row').nth(1).waitFor({ state: 'detached' });
  t.equal(await approved(), 4, 'clicks at two places count twice');
});

t.test('recognises a second click by time or count, but no key', NEEDS_BROWSER, async (t) => {
  const { page, approved } = await openConsoleWithCount(t, 5);
  const click = (...details: number[]) =>
    page.evaluate(`for (const detail of ${JSON.stringify(details)})
      document.querySelector('.bar .primary').dispatchEvent(
        new MouseEvent('click', { bubbles: true, detail, clientX: 300, clientY: 300 }))`);
  const shown = (text: string) => page.locator('.note .text', { hasText: text }).waitFor();
  const pause = () => page.evaluate('new Promise((resolve) => setTimeout(resolve, 600))');
  await click(1);
  await untilToast(page, 'Approved “Note 1”');
  await pause();
  // The system may allow a slower double click.
  await click(2);
  await pause();
  await click(1);
  await untilToast(page, 'Approved “Note 2”');
  await shown('Note 3');
  // As from a key or a screen reader.
  await click(0);
  await shown('Note 4');
  await click(0);
  await shown('Note 5');
  await page.locator('.row').nth(1).waitFor({ state: 'detached' });
  t.equal(await approved(), 4);
});

t.test('ignores keys of an input method', NEEDS_BROWSER, async (t) => {
  const { page, approved } = await openConsoleWithCount(t, 2);
  const compose = () =>
    page.evaluate(`for (const key of ['Escape', 'Enter'])
      document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key, isComposing: true, bubbles: true }))`);
  await page.keyboard.press('/');
  await page.locator('#search:focus').waitFor();
  await compose();
  await page.keyboard.type('a');
  await untilEqual(t, () => page.locator('#search').inputValue(), 'a');
  await page.locator('#search').press('Escape');
  await page.getByText('2 found.').first().waitFor();
  await page.locator('.row.here').waitFor();
  await page.keyboard.press('e');
  await page.locator('.panel textarea:focus').waitFor();
  await compose();
  await page.keyboard.type('a');
  await untilEqual(t, () => page.locator('.panel textarea').inputValue(), 'a');
  await page.locator('.panel textarea').press('Escape');
  await page.locator('.panel:focus').waitFor();
  t.equal(await approved(), 0);
});

t.test('ignores repeated keys and keys with a modifier', NEEDS_BROWSER, async (t) => {
  const { page, approved } = await openConsoleWithCount(t, 3);
  for (const other of ['Control', 'Alt', 'Meta']) await page.keyboard.press(`${other}+a`);
  await page.locator('.row.here .row-main').focus();
  for (let times = 0; times < 3; times++) await page.keyboard.down('j');
  await page.keyboard.up('j');
  await page.locator('.row.here', { hasText: 'Note 3' }).waitFor();
  t.equal(await approved(), 0);
  for (let times = 0; times < 3; times++) await page.keyboard.down('a');
  await page.keyboard.up('a');
  await untilToast(page, 'Approved “Note 3”');
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  await untilEqual(t, () => page.locator('.row').count(), 2, 'only the first press counts');
  t.equal(await approved(), 1);
});

t.test('closes dialogs when Back leaves their view', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithCount(t, 2);
  await page.getByRole('link', { name: /^Escalated/ }).click();
  await page.getByText('Nothing is escalated.').waitFor();
  for (const keys of [['x', 'Shift+A'], ['?']]) {
    await page.getByRole('link', { name: /^To do/ }).click();
    await page.locator('.row').nth(1).waitFor();
    for (const key of keys) await page.keyboard.press(key);
    await page.getByRole('dialog').waitFor();
    await page.goBack();
    await page.getByText('Nothing is escalated.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  t.pass('neither a batch nor the help stays open');
});
