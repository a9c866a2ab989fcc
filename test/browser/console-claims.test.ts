import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import t from 'tap';
import { addModerator, countClaims, submit } from '../../harness/moderation.ts';
import {
  checkAppearance,
  holdRequest,
  intercept,
  NEEDS_BROWSER,
  untilEqual,
  untilHandled,
  visit,
} from '../support/browser.ts';
import {
  currentText,
  openConsole,
  openConsoleWithNotes,
  signIn,
  untilToast,
} from '../support/console.ts';
import { openEventStream } from '../support/event-stream.ts';
import { startService } from '../support/service.ts';

/** Waits for the response: the stream may announce the claim earlier, but not for which tab. */
async function claimNext(page: Page): Promise<void> {
  const answered = page.waitForResponse('**/api/moderation/claims');
  await page.keyboard.press('n');
  await untilHandled(page, answered);
}

t.test('greys the row of a lost claim and offers a new claim', NEEDS_BROWSER, async (t) => {
  const { service, ann, page } = await openConsoleWithNotes(t, ['Hello']);
  const stream = await openEventStream(t, `${service.baseUrl}/api/moderation/stream`, {
    authorization: `Bearer ${ann.token}`,
  });
  const claim = await holdRequest(page, '**/api/moderation/claims', 'answer');
  await page.keyboard.press('n');
  // A claim that ends before the stream announces it is never announced.
  await stream.until('claim', ({ claims }) => claims.length > 0);
  await page.locator('.note .lease').waitFor();
  await service.database.pool.query('UPDATE note_leases SET expires_at = clock_timestamp()');
  const lost = page.locator('.row.grey', { hasText: 'Claim lost' });
  await lost.waitFor();
  await claim.deliver();
  t.equal(await lost.count(), 1, 'the late response does not restore it');
  await checkAppearance(t, page, 'moderation-lost-claim');
  await page.locator('.row').getByRole('button', { name: 'Claim again' }).click();
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  t.equal(await countClaims(ann), 1);
  const released = page.waitForResponse('**/claims/release');
  await page.keyboard.press('Escape');
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor({ state: 'detached' });
  await released;
  t.equal(await countClaims(ann), 0, 'Esc releases');
  await claimNext(page);
  await page.locator('.note .lease').waitFor();
  await page.goto('about:blank');
  while ((await countClaims(ann)) > 0);
  t.pass('leaving releases');
});

t.test('keeps a claim when an older list of claims arrives', NEEDS_BROWSER, async (t) => {
  const { page, context } = await openConsoleWithNotes(t, ['Hello']);
  await page.keyboard.press('n');
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  const before = { complete: true, claims: [], released_subjects: [] };
  await intercept(page, '**/api/moderation/stream', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `event: claim\ndata: ${JSON.stringify(before)}\n\n`,
    }),
  );
  await context.setOffline(true);
  await page.getByText('Live updates paused').waitFor();
  const reread = page.waitForResponse('**/api/moderation/notes/*');
  await context.setOffline(false);
  await reread;
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  t.equal(await page.getByText('Claim lost').count(), 0);
});

t.test('keeps a claim when an older response arrives', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'One' });
  const two = await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, ann);
  const row = page.locator('.row', { hasText: 'Two' });
  await row.waitFor();
  const read = await holdRequest(page, `**/api/moderation/notes/${two.id}`, 'answer');
  await page.keyboard.press('j');
  await read.arrived;
  await page.locator('.note').getByRole('button', { name: 'Claim', exact: true }).click();
  await row.getByText('Claimed by you').waitFor();
  read.release();
  await page
    .locator('.note', { hasText: 'History' })
    .getByText('Loading…')
    .waitFor({ state: 'detached' });
  t.equal(await page.getByText('Claim lost').count(), 0);
  t.equal(await row.getByText('Claimed by you').count(), 1);
});

t.test('drops a claim that ended before the stream saw it', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['Hello']);
  await page.locator('.history li').first().waitFor();
  await claimNext(page);
  // The answer of a read between Bob's claim and its release; the stream looks only after both.
  await intercept(
    page,
    '**/api/moderation/notes/*',
    async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const claim = {
        lease_id: randomUUID(),
        moderator: { id: randomUUID(), name: 'Bob' },
        claimed_at: new Date().toISOString(),
        expires_at: Math.floor(Date.now() / 1000) + 300,
        mine: false,
      };
      await route.fulfill({ response, json: { ...body, item: { ...body.item, claim } } });
    },
    { times: 1 },
  );
  // The page reads the note again when the stream reports that its own claim has ended.
  await page.keyboard.press('Escape');
  const lease = page.locator('.note .lease', { hasText: 'Bob claimed it at' });
  await lease.waitFor();
  await lease.waitFor({ state: 'detached' });
});

t.test('moves to a note that nobody else holds after a decision', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  await submit(service, { message: 'One' });
  const two = await submit(service, { message: 'Two' });
  await submit(service, { message: 'Three' });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(2).waitFor();
  await bob.post('claims', { note_ids: [two.id] });
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  await untilEqual(t, () => currentText(page), 'Three');
});

t.test("keeps another tab's claims when a tab closes", NEEDS_BROWSER, async (t) => {
  const { service, ann, page, context } = await openConsoleWithNotes(t, ['One', 'Two']);
  await page.locator('.row').nth(1).waitFor();
  await page.keyboard.press('n');
  await page.locator('.note .lease').waitFor();
  const second = await context.newPage();
  await second.goto(`${service.baseUrl}/moderation`);
  await second.locator('.stream.live').waitFor();
  await second.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await claimNext(second);
  await second.locator('.row', { hasText: 'Claimed by you' }).nth(1).waitFor();
  t.equal(await countClaims(ann), 2);
  await second.goto('about:blank');
  await untilEqual(t, () => countClaims(ann), 1);
  t.equal(await page.locator('.row', { hasText: 'One' }).getByText('Claimed by you').count(), 1);
});

t.test('renews a claim while visible, or reports it lost', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service);
  const url = `${service.baseUrl}/moderation`;
  const { page } = await visit(t, url, { expected: /status of 401|ERR_/ });
  await page.clock.install();
  await signIn(page, ann);
  await page.locator('.row').waitFor();
  await claimNext(page);
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  let renewals = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/claims/renew')) renewals++;
  });
  const seen = (state: 'visible' | 'hidden') =>
    page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })`,
    );
  await seen('hidden');
  await page.clock.fastForward(61_000);
  await page.evaluate("fetch('/livez')");
  t.equal(renewals, 0);
  await seen('visible');
  // Without the stream, only a renewal reports the loss.
  await intercept(page, '**/api/moderation/stream', (route) => route.abort());
  await page.clock.fastForward(61_000);
  await page.getByText('Live updates paused').waitFor();
  t.equal(await page.locator('.row', { hasText: 'Claimed by you' }).count(), 1);
  await service.database.pool.query('DELETE FROM note_leases');
  await page.clock.fastForward(61_000);
  await page.locator('.row', { hasText: 'Claim lost' }).waitFor();
});

t.test('claims an item again while its release is on its way', NEEDS_BROWSER, async (t) => {
  const { page, ann } = await openConsoleWithNotes(t, ['Hello']);
  await claimNext(page);
  const release = await holdRequest(page, '**/claims/release', 'request');
  await page.keyboard.press('Escape');
  await release.arrived;
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  release.release();
  await page.locator('.note .lease', { hasText: 'Claimed by you' }).waitFor();
  t.equal(await countClaims(ann), 1);
});

t.test('claims the first item that the filters show', NEEDS_BROWSER, async (t) => {
  const texts = ['Pears', 'Apples', 'More apples', 'Sour apples'];
  const { service, ann, notes, page } = await openConsoleWithNotes(t, texts);
  const ben = await addModerator(service, 'Ben');
  const taken = await ben.post('claims', { subjects: [{ type: 'note', id: notes[3]?.id }] });
  t.equal(taken.status, 200, taken.text);
  await page.locator('.row', { hasText: 'Sour apples' }).getByText(/Ben/).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('apples');
  await page.keyboard.press('Enter');
  await untilEqual(t, () => page.locator('.row').count(), 3);
  for (const text of ['Apples', 'More apples']) {
    await page.keyboard.press('n');
    await page.locator('.row', { hasText: text }).getByText('Claimed by you').waitFor();
  }
  await page.keyboard.press('n');
  await untilToast(page, 'No free item in this list; 1 is with other moderators.');
  t.equal(await page.locator('.row').count(), 3);
  const { leases } = (await ann.get('me')).body;
  t.same(leases.map(({ note_id }: { note_id: string }) => note_id).sort(), [
    ...[notes[1]?.id ?? '', notes[2]?.id ?? ''].sort(),
  ]);
  await page.getByRole('link', { name: /^Mine/ }).click();
  await page.getByRole('heading', { name: 'Mine', level: 2 }).waitFor();
  t.equal(await page.getByRole('button', { name: /^Claim next/ }).count(), 0);
});
