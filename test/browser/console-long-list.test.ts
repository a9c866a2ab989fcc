import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { holdRequest, NEEDS_BROWSER, untilEqual, visit } from '../support/browser.ts';
import { loadMore, openConsole, signIn } from '../support/console.ts';
import { startService } from '../support/service.ts';

/** SQL that inserts pending notes, each a second older than the one before. */
const waitingNotes = (count: number) => `INSERT INTO notes (note_id, owner_id, experience,
    attribution, name, message, state, version, submitted_at)
  SELECT gen_random_uuid(), gen_random_uuid(), 'service', 'guest', 'Ada', 'Note ' || n, 'pending', 1,
    now() - interval '1 hour' + n * interval '1 second'
  FROM generate_series(1, ${count}) n`;

t.test('says how many of a long list a search has found', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await service.tamper(waitingNotes(70));
  const { page } = await openConsole(t, service, ann);
  await page.locator('#search').fill('Note');
  await page.keyboard.press('Enter');
  const found = page.locator('.matches');
  await untilEqual(t, () => found.textContent(), 'First 50 matches among 70. ');
  await page.locator('#search').fill('Note 7');
  await page.keyboard.press('Enter');
  await untilEqual(t, () => found.textContent(), '2 of 70 found. ');
});

t.test('a long list costs what is in sight, and stays still', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const first = await submit(service, { message: 'First' });
  await service.tamper(
    `UPDATE notes SET submitted_at = now() - interval '2 hours' WHERE note_id = '${first.id}'`,
  );
  await service.tamper(waitingNotes(399));
  const { page } = await openConsole(t, service, ann);
  for (const rows of [100, 150, 200, 250]) {
    await page.evaluate('document.querySelector(".list-scroll").scrollTo(0, 1e6)');
    await page.locator(`.row[aria-setsize="${rows}"]`).first().waitFor();
  }
  t.ok((await page.locator('.row').count()) < 130, 'rows out of sight are not rendered');
  await page.evaluate('document.querySelector(".list-scroll").scrollTo(0, 12000)');
  await page.locator('.row[aria-posinset="140"] .row-main').click();
  await page.locator('.note .text', { hasText: /^Note 139$/ }).waitFor();
  await page.locator('.history').waitFor();
  const topOf = () => page.locator('.row.here').evaluate((row) => row.getBoundingClientRect().top);
  const top = await topOf();

  // Rows that are not rendered take exactly the room that they would have.
  await page.evaluate('document.querySelector(".list-scroll").scrollTo(0, 0)');
  await page.locator('.row[aria-posinset="1"]').waitFor();
  const atStart = (await topOf()) - 12_000;
  t.equal(atStart, top, 'as many pixels away as were scrolled');

  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/moderation/queue')) requests.push(request.url());
  });
  t.equal((await decide(bob, first.id, 'approve')).status, 201);
  await page.evaluate('document.querySelector(".list-scroll").scrollTo(0, 0)');
  await page.locator('.row.gone', { hasText: 'First' }).getByText('approved').waitFor();
  t.ok(requests.length <= 2, `for one decision ${requests.join(', ')}`);
  const others = requests.filter((url) => !url.includes(`only=${first.id}`));
  t.same(others, [], 'one item is read, not the list');

  // The undo of a decision brings back a note whose place is above the others.
  const undone = await bob.get(`notes/${first.id}`);
  await bob.post(`decisions/${undone.body.item.decision.event_id}/undo`, {
    expected_version: undone.body.item.version,
  });
  await page.locator('.row:not(.gone)', { hasText: 'First' }).waitFor();
  await page.evaluate('document.querySelector(".list-scroll").scrollTo(0, 12000)');
  await page.locator('.row.here').waitFor();
  t.equal(await topOf(), top, 'the present row is where it was');
  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: /^Note 140$/ }).waitFor();
});

t.test('items that would move the rows wait until they are shown', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [lea, bob] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Bob'),
  ];
  const ids: string[] = [];
  for (const message of ['One', 'Two', 'Three']) ids.push((await submit(service, { message })).id);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const deferral = { action: 'defer', expected_version: 1, until };
  const deferred = await bob.post(`notes/${ids[0]}/decisions`, deferral);
  const { page } = await openConsole(t, service, lea);
  const excerpts = () => page.locator('.row .excerpt').allTextContents();
  await page.locator('.row').nth(1).waitFor();
  await submit(service, { message: 'Four' });
  await page.locator('.row', { hasText: 'Four' }).waitFor();
  t.same(await excerpts(), ['Two', 'Three', 'Four'], 'what belongs at the end is appended');

  const { event_id, version } = deferred.body;
  await bob.post(`decisions/${event_id}/undo`, { expected_version: version });
  await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
  t.same(await excerpts(), ['Two', 'Three', 'Four'], 'no row has moved');
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await page.locator('.row', { hasText: 'One' }).waitFor();
  t.same(await excerpts(), ['One', 'Two', 'Three', 'Four']);
  await untilEqual(t, () => page.locator('.arrivals').count(), 0);
});

t.test('a list that is older than the stream is read again once', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await service.tamper(waitingNotes(120));
  const { page } = await visit(t, `${service.baseUrl}/moderation`, { expected: /status of 401/ });
  let requests = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/moderation/queue?')) requests++;
  });
  const list = await holdRequest(page, '**/api/moderation/queue?**', 'answer');
  await signIn(page, ann);
  await list.arrived;
  await page.locator('.stream.live').waitFor();
  const again = await holdRequest(page, '**/api/moderation/queue?**', 'answer');
  list.release();
  await page.locator('.row').first().waitFor();
  t.equal(requests, 2, 'no later than its rows are shown');
  await again.arrived;
  await loadMore(page);
  await page.locator('.row[aria-setsize="100"]').first().waitFor();
  await again.deliver();
  t.equal(requests, 3, 'a page that arrived meanwhile needs no further read');
  await loadMore(page);
  await page.locator('.row[aria-setsize="120"]').first().waitFor();
});
