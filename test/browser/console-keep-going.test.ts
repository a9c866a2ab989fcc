import type { Page } from 'playwright-core';
import t from 'tap';
import { addModerator, countClaims, type Moderator, submit } from '../../harness/moderation.ts';
import { isLiveLease } from '../../services/publications/review-leases.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  countNotesByState,
  currentText,
  numberedTexts,
  openConsole,
  untilToast,
} from '../support/console.ts';
import { startService } from '../support/service.ts';

const NOTES = 120;
/** Of each moderator, so many that none runs out of notes meanwhile. */
const FAST_KEYS = 50;

t.test(
  'two moderators at work at the same time never meet, with a key a decision',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
    for (const message of numberedTexts(NOTES)) await submit(service, { message });
    const consoles = [
      await openConsole(t, service, ann, { keepGoing: 'default' }),
      await openConsole(t, service, bob, { keepGoing: 'default' }),
    ];
    const refused: string[] = [];
    for (const { page } of consoles) {
      page.on('response', (response) => {
        // Both may claim the first note, before anybody has pressed a key; one of them then gets the next.
        // A busy machine may answer 503, after which the console repeats the decision.
        const isRefusal = response.status() >= 400 && response.status() !== 503;
        if (isRefusal && response.url().endsWith('/decisions'))
          refused.push(`${response.status()} ${response.url()}`);
      });
      await page.locator('.keep-going input:checked').waitFor();
      await page.getByText('Claimed by you').first().waitFor();
    }
    const [first] = consoles;
    if (first) await checkAppearance(t, first.page, 'console-keep-going');
    const decisionsOf = async ({ id }: { id: string }): Promise<number> => {
      const { rows } = await service.database.pool.query(
        'SELECT count(*)::int AS count FROM note_decisions WHERE moderator_id = $1',
        [id],
      );
      return rows[0].count;
    };
    /** Presses the key fast, then as long as there is something to decide. Returns how often. */
    async function pressAll(page: Page, moderator: Moderator): Promise<number> {
      await page.locator('.row-main[aria-current]').focus();
      let keys = 0;
      for (; keys < FAST_KEYS; keys++) await page.keyboard.press('a');
      await untilEqual(t, () => decisionsOf(moderator), keys);
      // The last note may be with the other moderator.
      for (; await hasNext(moderator); keys++) {
        await page.keyboard.press('a');
        await untilEqual(t, () => decisionsOf(moderator), keys + 1);
      }
      return keys;
    }
    /** Waits until the moderator has a claim, or the last note is decided or with the other. */
    async function hasNext({ id }: Moderator): Promise<boolean> {
      let own = 0;
      const isClaimed = async () => {
        // In one snapshot: the note that was the other's a moment ago may be decided, and the last one free.
        const { rows } = await service.database.pool.query(
          `SELECT (SELECT count(*)::int FROM notes WHERE state = 'pending') AS pending,
             count(*) FILTER (WHERE moderator_id = $1)::int AS own,
             count(*) FILTER (WHERE moderator_id <> $1)::int AS others
           FROM note_leases WHERE ${isLiveLease()}`,
          [id],
        );
        const [{ pending, others }] = rows;
        ({ own } = rows[0]);
        return own > 0 || pending === 0 || (pending === 1 && others === 1);
      };
      await untilEqual(t, isClaimed, true);
      return own > 0;
    }
    const keys = await Promise.all(
      consoles.map(({ page }, at) => pressAll(page, at === 0 ? ann : bob)),
    );
    await untilEqual(t, () => countNotesByState(service), { approved: NOTES });
    t.same(refused, [], 'no decision was refused');
    t.same(await Promise.all([ann, bob].map(decisionsOf)), keys, 'a key is a decision');
    t.equal((keys[0] ?? 0) + (keys[1] ?? 0), NOTES);
  },
);

t.test('keeps going only while a colleague is at work, or as chosen', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const audrey = await addModerator(service, 'Audrey', 'auditor');
  for (const message of numberedTexts(5)) await submit(service, { message });
  const { page } = await openConsole(t, service, ann, { keepGoing: 'default' });
  const keepsGoing = page.getByLabel('Keep going');
  await openConsole(t, service, audrey, { keepGoing: 'default' });
  await page.keyboard.press('j');
  t.equal(await currentText(page), 'Note 2');
  await page.keyboard.press('a');
  await untilToast(page, 'Approved');
  t.equal(await keepsGoing.isChecked(), false, 'alone, and an auditor decides nothing');
  t.equal(await countClaims(ann), 0);

  const colleague = await openConsole(t, service, bob, { keepGoing: 'default' });
  await page.locator('.keep-going input:checked').waitFor();
  await page.getByText('Claimed by you').first().waitFor();
  t.equal(await currentText(page), 'Note 3', 'the note that the moderator looks at is claimed');
  await untilEqual(t, () => countClaims(bob), 1);
  t.equal(await currentText(colleague.page), 'Note 1');

  await keepsGoing.uncheck();
  await page.locator('.row-main[aria-current]').focus();
  await page.keyboard.press('a');
  await untilEqual(t, () => countNotesByState(service), { approved: 2, pending: 3 });
  await untilEqual(t, () => countClaims(ann), 0);
  await page.reload();
  await page.locator('.row-main[aria-current]').waitFor();
  t.equal(await keepsGoing.isChecked(), false, 'a choice stays');
});
