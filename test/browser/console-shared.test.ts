import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { checkAppearance, intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole, untilToast } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('shares a note between two moderators', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [one] = [await submit(service, { message: 'One' }), await submit(service)];
  const anns = await openConsole(t, service, ann);
  const bobs = await openConsole(t, service, bob);
  await anns.page.locator('.note .text', { hasText: 'One' }).waitFor();

  await bobs.page.keyboard.press('n');
  await bobs.page.locator('.note .lease').waitFor();
  await anns.page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
  await anns.page.locator('.lease', { hasText: 'Bob claimed it at' }).waitFor();
  await anns.page.keyboard.press('a');
  await untilToast(anns.page, /Bob claimed it at .*\d/);
  await bobs.page.keyboard.press('Escape');
  await anns.page.getByRole('button', { name: 'Approve a' }).waitFor();

  // Ann writes, her claim ends unnoticed, and Bob decides.
  await anns.page.keyboard.press('r');
  await anns.page.getByLabel('Message to the author').fill('A long and careful word');
  await anns.page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await intercept(anns.page, '**/api/moderation/stream', (route) => route.abort());
  await anns.context.setOffline(true);
  await anns.page.getByText('Live updates paused').waitFor();
  await service.database.pool.query('DELETE FROM note_leases');
  t.equal((await decide(bob, one.id, 'approve')).status, 201);
  await anns.context.setOffline(false);
  await anns.page.getByLabel('Message to the author').press('Escape');
  await anns.page.keyboard.press('1');
  await anns.page
    .locator('.panel', { hasText: /Bob approved it at .*Your text is kept/ })
    .waitFor();
  await untilEqual(
    t,
    () => anns.page.getByLabel('Message to the author').inputValue(),
    'A long and careful word',
  );
  await untilEqual(
    t,
    () => anns.page.locator('.panel').getAttribute('aria-busy'),
    'false',
    'the panel is ready to send again',
  );
  await checkAppearance(t, anns.page, 'moderation-conflict');
});

t.test('polls the queue while the stream is cut, then resumes it', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const first = await submit(service, { message: 'First' });
  const { page, context } = await openConsole(t, service, ann);
  await submit(service, { message: 'Second' });
  await page.locator('.row', { hasText: 'Second' }).waitFor();
  await page
    .getByRole('link', { name: /^To do/ })
    .filter({ hasText: '2' })
    .waitFor();

  await intercept(page, '**/api/moderation/stream', (route) => route.abort());
  await context.setOffline(true);
  await page.getByText('Live updates paused').waitFor();
  await checkAppearance(t, page, 'moderation-paused');
  await context.setOffline(false);
  await submit(service, { message: 'Third' });
  await page.locator('.row', { hasText: 'Third' }).waitFor();
  await untilEqual(t, () => page.locator('.stream.paused').count(), 1, 'found by polling');

  await bob.post('claims', { note_ids: [first.id] });
  const again = page.waitForResponse('**/api/moderation/stream');
  await page.unroute('**/api/moderation/stream');
  t.match(await (await again).request().headerValue('last-event-id'), /^1\.\d+$/);
  await page.locator('.stream.live').waitFor();
  await page.locator('.row', { hasText: 'Claimed by Bob' }).waitFor();
});

t.test('reads what only the counts announce, with its history', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const { id } = await submit(service, { message: 'Put off' });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.history li').first().waitFor();
  await untilEqual(t, () => page.locator('.history li').count(), 1);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await bob.post(`notes/${id}/decisions`, { action: 'defer', expected_version: 1, until });
  // The current note stays until the moderator leaves it.
  await page.locator('.history li', { hasText: 'deferred' }).waitFor();
  await page.getByRole('link', { name: /^Mine/ }).click();
  await page.getByRole('link', { name: /^To do/ }).click();
  await page.getByText('The queue is clear.').waitFor();
  await service.tamper('UPDATE notes SET deferred_until = clock_timestamp()');
  // No event announces the note, but any claim sends the counts.
  await bob.post('claims', { note_ids: [id] });
  await page.locator('.row', { hasText: 'Put off' }).waitFor();
});

t.test('updates the history of a note seen before', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [lea, bob] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Bob'),
  ];
  const { id } = await submit(service, { message: 'One' });
  await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, lea);
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await page.locator('.history li').first().waitFor();
  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await bob.post(`notes/${id}/decisions`, {
    action: 'escalate',
    expected_version: 1,
    message: 'For a lead',
  });
  await page.locator('.row', { hasText: 'Escalated' }).waitFor();
  await page.keyboard.press('k');
  await page.locator('.history li', { hasText: 'escalated' }).waitFor();
});
