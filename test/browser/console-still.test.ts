import type { Page } from 'playwright-core';
import t from 'tap';
import { addModerator } from '../../harness/moderation.ts';
import { NEEDS_BROWSER } from '../support/browser.ts';
import { numberedTexts, openConsoleWithNotes } from '../support/console.ts';

/** The place and size of an element in the window, in whole pixels. */
const boxOf = async (page: Page, place: string) => {
  const { x = 0, y = 0, width = 0 } = (await page.locator(place).first().boundingBox()) ?? {};
  return [x, y, width].map(Math.round);
};

/** The tops of the rows. */
const topsOf = (page: Page): Promise<number[]> =>
  page
    .locator('.row')
    .evaluateAll((rows) => rows.map((row) => Math.round(row.getBoundingClientRect().top)));

const LONG = 'A sentence that one reads to its end before one decides on it. '.repeat(7);

t.test('the text of a note does not move while one decides on it', NEEDS_BROWSER, async (t) => {
  const { page, service, notes } = await openConsoleWithNotes(t, [LONG, ...numberedTexts(4)]);
  const bob = await addModerator(service, 'Bob');
  for (const [width, height] of [
    [1366, 768],
    [390, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.locator('.history li').first().waitFor();
    const before = await boxOf(page, '.note .text');
    const still = async (when: string) =>
      t.same(await boxOf(page, '.note .text'), before, `${width} px: ${when}`);
    for (const key of ['r', 'e', 'd']) {
      await page.keyboard.press(key);
      await page.locator('.panel').waitFor();
      await page.locator('.note .lease', { hasText: 'Claimed by you' }).waitFor();
      await still(`panel of ${key}`);
      // The page shows the release before it has arrived, but Bob can claim only after it.
      const released = page.waitForResponse('**/claims/release');
      await page.keyboard.press('Escape');
      if (key === 'e') await page.keyboard.press('Escape');
      await page.locator('.panel').waitFor({ state: 'detached' });
      await page.locator('.note .lease').waitFor({ state: 'detached' });
      await released;
    }
    await bob.post('claims', { note_ids: [notes[0]?.id] });
    await page.locator('.note .lease', { hasText: 'Bob claimed it at' }).waitFor();
    await still('a claim of another moderator');
    const { leases } = (await bob.get('me')).body;
    await bob.post('claims/release', {
      lease_ids: leases.map(({ lease_id }: { lease_id: string }) => lease_id),
    });
    await page.locator('.note .lease').waitFor({ state: 'detached' });
  }

  await page.setViewportSize({ width: 1366, height: 768 });
  await page.keyboard.press('r');
  const panel = await page.locator('.panel').boundingBox();
  const text = await page.locator('.note .text').boundingBox();
  const room = (panel?.y ?? 0) - (text?.y ?? 0);
  t.ok(room > 350, `the panel leaves ${room} px for the text`);
});

t.test('rows stay where they are, with tags and a selection', NEEDS_BROWSER, async (t) => {
  const { page, service, notes } = await openConsoleWithNotes(t, numberedTexts(5));
  const bob = await addModerator(service, 'Bob');
  const before = await topsOf(page);
  await page.keyboard.press('x');
  await page.getByText('1 note selected').waitFor();
  t.same(await topsOf(page), before, 'the bar of the selection moves no row');
  await page.keyboard.press('n');
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await bob.post('claims', { note_ids: [notes[1]?.id] });
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
  t.same(await topsOf(page), before, 'claims move no row');
  const { leases } = (await bob.get('me')).body;
  await bob.post('claims/release', { lease_ids: [leases[0].lease_id] });
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor({ state: 'detached' });
  t.same(await topsOf(page), before);
});
