import t from 'tap';
import { submit } from '../../harness/moderation.ts';
import { NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  countNotesByState,
  numberedTexts,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';

t.test('ignores keys while typing and can switch them off', NEEDS_BROWSER, async (t) => {
  const { service, ann, page } = await openConsoleWithNotes(t, numberedTexts(2));
  await page.locator('.row').nth(1).waitFor();
  await page.keyboard.press('/');
  await page.locator('#search:focus').waitFor();
  await page.keyboard.type('aNote 2');
  t.same(await countNotesByState(service), { pending: 2 });
  await page.locator('#search').fill('note 2');
  await submit(service, { message: 'Note 3' });
  await page.keyboard.press('Enter');
  await page.locator('.note .text', { hasText: 'Note 2' }).waitFor();
  await untilEqual(t, () => page.locator('.row').count(), 1);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('a');
  t.same(
    await countNotesByState(service),
    { pending: 3 },
    'nor does one mean what is behind the help',
  );
  await page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByText('They pause while you type')
    .click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  const named = '[aria-keyshortcuts], kbd';
  t.equal(await page.locator(named).count(), 0, 'no key is shown or told that does nothing');
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
  await page.locator('.note .lease').waitFor();
  await page.keyboard.press('Escape');
  t.equal((await ann.get('me')).body.leases.length, 1, 'Esc releases nothing');
  await untilEqual(t, () => page.locator('.note .lease').count(), 1);
  await page.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.locator('.panel').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Release' }).click();
  await page.locator('.note .lease').waitFor({ state: 'detached' });
  t.same(await countNotesByState(service), { pending: 3 });
  await page.reload();
  await page.locator('.row', { hasText: 'Note 2' }).waitFor();
  await page.keyboard.press('a');
  t.same(await countNotesByState(service), { pending: 3 }, 'still off');
  await page.getByLabel('Shortcuts').check();
  await page.getByRole('button', { name: 'Approve a' }).click();
  await untilToast(page, 'Approved');
});

t.test('recognises keys on a keyboard of another script', NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, numberedTexts(3));
  await page.locator('.row').nth(2).waitFor();
  const press = (key: string, code: string, shiftKey = false) =>
    page.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
        ${JSON.stringify({ key, code, shiftKey, bubbles: true, cancelable: true })}))`,
    );
  await press('ф', 'KeyA');
  await untilToast(page, 'Approved “Note 1”');
  await press('ρ', 'KeyR');
  await page.locator('.panel').waitFor();
  await press('۱', 'Digit1');
  await untilToast(page, /^Rejected/);
  await press('ס', 'KeyX');
  await page.getByText('1 note selected').waitFor();
  await press('Ф', 'KeyA', true);
  await page.getByRole('dialog', { name: 'Approve 1 note?' }).waitFor();
  await page.keyboard.press('Escape');
  await press('á', 'KeyA');
  t.same(
    await countNotesByState(service),
    { approved: 1, rejected: 1, pending: 1 },
    'not a Latin letter',
  );
});
