import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { countNotesByState, openConsole, untilToast } from '../support/console.ts';
import { startService } from '../support/service.ts';

const ADVERT = 'Cheap telescopes for everyone, today only, write to the shop on the hill';

t.test(
  'folds notes like one into its row, reads and rejects them all',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    for (const message of [ADVERT, `${ADVERT}!`, 'A question', `${ADVERT}!!`]) {
      const { id } = await submit(service, { message });
      await screenNote(service.core, { note_id: id });
    }
    const { page } = await openConsole(t, service, ann);
    const rows = page.locator('.row');
    await untilEqual(t, () => rows.count(), 4);

    // With the keyboard alone.
    const summary = page.getByText('Fold notes like this');
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('For', { exact: true }).selectOption('30 days');
    await page.getByRole('button', { name: 'Fold this text' }).press('Enter');
    await untilToast(page, 'Folded. No guest learns of it.');
    await untilEqual(t, () => rows.count(), 2);
    await page.locator('.row.here', { hasText: '3 notes like this' }).waitFor();
    const section = page.getByRole('region', { name: '3 notes like this' });
    await section.getByText('Folded into this row by Ann until').waitFor();
    await checkAppearance(t, page, 'moderation-folded');

    await section.getByRole('link', { name: 'Read them all' }).press('Enter');
    await untilEqual(t, () => rows.count(), 3);
    await page.getByText("Guests' notes with one text, or nearly").waitFor();
    await page.goBack();
    await untilEqual(t, () => rows.count(), 2);
    await section.getByRole('button', { name: 'Reject all…' }).press('Enter');
    await page.getByRole('dialog', { name: 'Reject 3 notes?' }).waitFor();
    await page.keyboard.press('1');
    await untilToast(page, /3 notes/);
    t.same(await countNotesByState(service), { pending: 1, rejected: 3 });
    await page.keyboard.press('u');
    await untilToast(page, /^Undone/);
    t.same(await countNotesByState(service), { pending: 4 });

    await page.reload();
    await section.getByRole('button', { name: 'Unfold' }).click();
    await untilToast(page, 'Unfolded.');
    await untilEqual(t, () => rows.count(), 4);
    const history = page.locator('.history');
    await history.getByText('notes unfolded (one text) by Ann').waitFor();
    await history.getByText(/notes folded \(one text\) until .+ by Ann/).waitFor();
    await page.getByRole('link', { name: 'In the audit' }).click();
    const acts = page.locator('table.audit tr', { hasText: 'folded' });
    await untilEqual(t, () => acts.locator('td:nth-child(4)').allTextContents(), [
      'notes unfolded',
      'notes folded',
    ]);
    await acts
      .last()
      .getByText(/kind text, until/)
      .waitFor();
    await checkAppearance(t, page, 'moderation-audit-folds');
  },
);
