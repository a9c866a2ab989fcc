import type { Locator } from 'playwright-core';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide } from '../../harness/moderation.ts';
import { publishArtifact, publishCase, publishProfile, report } from '../../harness/records.ts';
import { checkAppearance, intercept, NEEDS_BROWSER } from '../support/browser.ts';
import { openConsole, openConsoleWithNotes, untilToast } from '../support/console.ts';
import { matchAll } from '../support/match-all.ts';
import { advanceTime } from '../support/passing-time.ts';
import { type Service, startService } from '../support/service.ts';

/** Publishes a profile, a packet and a case, and reports them in this order. */
async function publishReported(service: Service) {
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const records = {
    profile: await publishProfile(author, 'Profile of a seller'),
    packet: await publishArtifact(author, 'Packet of offers'),
    open: await publishCase(author, 'Case of nothing'),
  };
  for (const record of Object.values(records))
    await report(reporter, record, { details: `Look at this ${record.type}` });
  return records;
}

t.test('reviews reported records: claims, keeps, removes and undoes', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const { profile, packet, open } = await publishReported(service);
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Reported/ }).click();
  await page.locator('.row').nth(2).waitFor();
  const title = page.getByRole('heading', { level: 2 });
  const shows = (kind: string) => title.filter({ hasText: kind }).waitFor();

  await shows('Profile by');
  await page.locator('.text', { hasText: 'Profile of a seller' }).waitFor();
  await page.locator('.report', { hasText: 'Look at this profile' }).waitFor();
  await page.locator('.history li', { hasText: 'reported' }).waitFor();
  await page.keyboard.press('n');
  await page.locator('.row', { hasText: 'Profile' }).getByText('Claimed by you').waitFor();
  matchAll(t, (await ann.get('me')).body.leases, [
    { subject: { type: 'profile', id: profile.id } },
  ]);
  await page.keyboard.press('a');
  await untilToast(page, 'Kept');
  const { item } = (await ann.get(`subjects/profile/${profile.id}`)).body;
  matchAll(t, item.reports, [{ state: 'kept' }]);

  await shows('Context packet by');
  await checkAppearance(t, page, 'moderation-record');
  await page.keyboard.press('r');
  await page.locator('.row', { hasText: 'Packet of offers' }).getByText('Claimed by you').waitFor();
  await page.getByLabel('Message to the author').fill('Offers go elsewhere');
  await page.getByLabel('Message to the author').press('Escape');
  await page.keyboard.press('1');
  await untilToast(page, /^Removed: .*spam/);
  t.equal((await service.call('GET', packet.path)).status, 410);
  t.match((await ann.get(`subjects/artifact/${packet.id}`)).body.item.decision, {
    message: 'Offers go elsewhere',
  });
  await shows('Case by');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone');
  await shows('Context packet by');
  t.equal((await service.call('GET', packet.path)).status, 200);

  await page.keyboard.press('j');
  await shows('Case by');
  await page.keyboard.press('x');
  await untilToast(page, 'Only notes can be selected');
  await page.keyboard.press('r');
  await page.keyboard.press('1');
  await untilToast(page, /^Removed/);
  const leas = await openConsole(t, service, lea);
  await leas.page.getByRole('link', { name: 'Decided' }).click();
  await leas.page.locator('.row', { hasText: 'Case of nothing' }).waitFor();
  await leas.page.getByText('This is not public').waitFor();
  await leas.page.keyboard.press('a');
  await untilToast(leas.page, 'Restored');
  t.equal((await service.call('GET', open.path)).status, 200);
});

t.test('shares a record between two moderators', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const { profile } = await publishReported(service);
  const anns = await openConsole(t, service, ann);
  const bobs = await openConsole(t, service, bob);
  for (const { page } of [anns, bobs]) {
    await page.getByRole('link', { name: /^Reported/ }).click();
    await page.getByRole('button', { name: 'Keep a' }).waitFor();
  }
  await bobs.page.keyboard.press('n');
  await anns.page.locator('.lease', { hasText: 'Bob claimed it at' }).waitFor();
  await anns.page.keyboard.press('a');
  await untilToast(anns.page, /Bob claimed it at .*\d/);
  await bobs.page.keyboard.press('Escape');
  await anns.page.getByRole('button', { name: 'Keep a' }).waitFor();

  // Ann's page receives no events of Bob's decision.
  await intercept(anns.page, '**/api/moderation/stream', (route) => route.abort());
  await anns.context.setOffline(true);
  await anns.page.getByText('Live updates paused').waitFor();
  const path = `subjects/profile/${profile.id}`;
  const { version } = (await bob.get(path)).body.item;
  const kept = await bob.post(`${path}/decisions`, { action: 'keep', expected_version: version });
  t.equal(kept.status, 201, kept.text);
  await anns.context.setOffline(false);
  await anns.page.keyboard.press('a');
  await untilToast(anns.page, /Not kept\. Bob kept it at/);
  await anns.page.locator('.row-fault', { hasText: 'Bob kept it at' }).waitFor();
});

t.test('shows the beginning of the first label of a row', NEEDS_BROWSER, async (t) => {
  const { service, ann, notes, page } = await openConsoleWithNotes(t, ['Hello']);
  const bob = await addModerator(service, 'Bartholomew of the second shift at the old observatory');
  const [{ id = '' } = {}] = notes;
  await decide(ann, id, 'approve');
  await service.call('POST', `/api/guestbook/${id}/report`, { body: { reason: 'spam' } });
  await bob.post('claims', { note_ids: [id] });
  await page.getByRole('link', { name: /^Reported/ }).click();
  const tags = page.locator('.row .tags');
  await tags.getByText('Claimed by Bartholomew').waitFor();
  const edges = async (place: Locator) => {
    const { x, width } = (await place.boundingBox()) ?? { x: 0, width: 0 };
    return { left: x, right: x + width };
  };
  const [all, first, last] = [
    await edges(tags),
    await edges(tags.locator('.tag').first()),
    await edges(tags.locator('.tag').last()),
  ];
  t.ok(last.right - first.left > all.right - all.left, 'they do not all fit');
  t.ok(first.left >= all.left, 'the last one is cut');
});

t.test('orders what was reported by the age that its rows show', NEEDS_BROWSER, async (t) => {
  const { service, ann, notes, page } = await openConsoleWithNotes(t, ['Reported last', 'First']);
  const report = (id: string) =>
    service.call('POST', `/api/guestbook/${id}/report`, { body: { reason: 'spam' } });
  const [last = '', first = ''] = notes.map(({ id }) => id);
  for (const id of [last, first]) await decide(ann, id, 'approve');
  await report(first);
  await advanceTime(service, '3 hours');
  await report(last);
  await page.getByRole('link', { name: /^Reported/ }).click();
  await page.locator('.row', { hasText: 'Reported last' }).waitFor();
  const ages = await page.locator('.row .age').allTextContents();
  t.equal(ages[0], '3 h');
  t.match(ages[1], /^\d+ s$|^\d min$/);
});
