import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { holdRequest, NEEDS_BROWSER } from '../support/browser.ts';
import { loadMore, openConsole } from '../support/console.ts';
import { insertNotesOfOthers } from '../support/decided-notes.ts';
import { type Service, startService } from '../support/service.ts';

/** So many notes of others wait. */
async function insertPending(service: Service, count: number): Promise<void> {
  await service.tamper(insertNotesOfOthers(count));
  await service.tamper(`UPDATE notes SET state = 'pending', approved_at = NULL, settled_at = NULL`);
}

t.test('ignores an older history that arrives late', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  await submit(service, { message: 'One' });
  const { id } = await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(1).waitFor();
  const first = await holdRequest(page, `**/api/moderation/notes/${id}`, 'answer');
  await page.keyboard.press('j');
  await first.arrived;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await bob.post(`notes/${id}/decisions`, { action: 'defer', expected_version: 1, until });
  const deferred = page.locator('.history li', { hasText: 'deferred' });
  await deferred.waitFor();
  await first.deliver();
  t.equal(await deferred.count(), 1);
});

t.test('keeps rows that arrived during a shorter reread', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await insertPending(service, 60);
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(49).waitFor();
  const firstPage = /\/queue\?(?!.*cursor=)/;
  const reread = await holdRequest(page, firstPage, 'request');
  await submit(service);
  await reread.arrived;
  await loadMore(page);
  const last = page.locator('.row[aria-posinset="61"]');
  await page.locator('.row[aria-setsize="61"]').first().waitFor();
  await page.evaluate('document.querySelector(".list-scroll").scrollTo(0, 1e6)');
  await last.waitFor();
  await reread.deliver();
  t.equal(await last.count(), 1);
});

t.test('keeps newer rows when an older page arrives', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  // Rows without events cannot be decided, so the first note is a submitted one.
  const { id } = await submit(service);
  await insertPending(service, 119);
  await service.tamper(
    `UPDATE notes SET submitted_at = now() - interval '1 day' WHERE note_id = '${id}'`,
  );
  const { page } = await openConsole(t, service, ann);
  for (const shown of [50, 100]) {
    await page.locator(`.row[aria-setsize="${shown}"]`).first().waitFor();
    await loadMore(page);
  }
  await page.locator('.row[aria-setsize="120"]').first().waitFor();
  const secondPage = await holdRequest(page, '**/api/moderation/queue**cursor=**', 'request');
  // An undo reads the whole list again.
  await page.keyboard.press('a');
  await page.locator('.toast', { hasText: 'Approved' }).waitFor();
  await page.keyboard.press('u');
  await secondPage.arrived;
  await bob.post('claims', { note_ids: [(await bob.get('queue?limit=2')).body.items[1].id] });
  const held = page.locator('.row', { hasText: 'Claimed by Bob' });
  await held.waitFor();
  await secondPage.deliver();
  t.equal(await held.count(), 1);
});

t.test("keeps another's claim when a late response arrives", NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  await submit(service);
  const { id } = await submit(service);
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(1).waitFor();
  const read = await holdRequest(page, `**/notes/${id}`, 'answer');
  await page.keyboard.press('j');
  await read.arrived;
  await bob.post('claims', { note_ids: [id] });
  const by = page.locator('.row', { hasText: 'Claimed by Bob' });
  await by.waitFor();
  read.release();
  await page.locator('.history li').first().waitFor();
  await by.waitFor();
  t.pass('whatever came late');
});
