import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { countNotesByState, numberedTexts, openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

const NOTES = 24;

t.test(
  'two moderators who keep going never meet, with a key a decision',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
    for (const message of numberedTexts(NOTES)) await submit(service, { message });
    const consoles = [await openConsole(t, service, ann), await openConsole(t, service, bob)];
    const refused: string[] = [];
    for (const { page } of consoles) {
      page.on('response', (response) => {
        if (response.status() === 409) refused.push(response.url());
      });
      await page.getByLabel('Keep going').check();
      await page.getByText('Claimed by you').first().waitFor();
    }
    const [first] = consoles;
    if (first) await checkAppearance(t, first.page, 'console-keep-going');
    await Promise.all(
      consoles.map(async ({ page }) => {
        await page.locator('.row-main[aria-current]').focus();
        for (let n = 0; n < NOTES / 2; n++) await page.keyboard.press('a');
      }),
    );
    await untilEqual(t, () => countNotesByState(service), { approved: NOTES });
    t.same(refused, [], 'no decision and no claim was refused');
    const { rows } = await service.database.pool.query(
      'SELECT moderator_id, count(*)::int AS count FROM note_decisions GROUP BY 1',
    );
    t.same(
      rows.map(({ count }) => count),
      [NOTES / 2, NOTES / 2],
      'a key is a decision',
    );
  },
);
