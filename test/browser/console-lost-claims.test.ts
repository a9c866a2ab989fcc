import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { holdRequest, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('shows how each lost claim ended', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const end = () => service.database.pool.query('DELETE FROM note_leases');
  const { id } = await submit(service, { message: 'One' });
  const { page } = await openConsole(t, service, ann);
  const row = page.locator('.row', { hasText: 'One' });
  const claim = async () => {
    await page.keyboard.press('n');
    await row.getByText('Claimed by you').waitFor();
  };
  await row.waitFor();
  await claim();
  await end();
  await bob.post('claims', { note_ids: [id] });
  await row.getByText('Claim lost').waitFor();
  await row.getByText('Claimed by Bob').waitFor();
  await page.keyboard.press('Escape');
  await row.getByText('Claim lost').waitFor({ state: 'detached' });
  await untilEqual(
    t,
    () => row.getByText('Claimed by Bob').count(),
    1,
    "what is given up stays another's",
  );

  await bob.post('claims/release', {
    lease_ids: (await bob.get('me')).body.leases.map(
      ({ lease_id }: { lease_id: string }) => lease_id,
    ),
  });
  await row.getByText('Claimed by Bob').waitFor({ state: 'detached' });
  await claim();
  await end();
  await decide(bob, id, 'approve');
  await page.locator('.history li', { hasText: 'approved' }).waitFor();
  t.equal(
    await page.getByText('Claim lost').count(),
    0,
    'what is decided is not to be claimed again',
  );
  t.equal(await page.locator('.lease').count(), 0);

  await service.call('POST', `/api/guestbook/${id}/report`, { body: { reason: 'spam' } });
  await page.getByRole('link', { name: /^Reported/ }).click();
  await row.waitFor();
  await claim();
  await end();
  // Any claim has the consoles told of them all.
  await submit(service);
  await bob.post('claims', { count: 1 });
  await row.getByText('Claim lost').waitFor();
});

t.test('shows a lost claim on an appeal', NEEDS_BROWSER, async (t) => {
  // An appeal is possible once the author may be told.
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '1' });
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const member = await signedIn(service);
  const { id } = await submitAs(service, member);
  await decide(bob, id, 'reject');
  const appeal = { body: { text: 'It is mine.' }, cookie: member.cookie };
  while ((await service.call('POST', `/api/guestbook/${id}/appeal`, appeal)).status !== 202)
    await sleep(100);
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Appeals/ }).click();
  const row = page.locator('.row', { hasText: 'Appeal' });
  await row.waitFor();
  await page.keyboard.press('n');
  await row.getByText('Claimed by you').waitFor();
  await service.database.pool.query('DELETE FROM note_leases');
  await submit(service);
  await bob.post('claims', { count: 1 });
  await row.getByText('Claim lost').waitFor();
});

t.test('shows a claim as lost that ended before it was answered', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const { id } = await submit(service, { message: 'One' });
  const two = await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.history li').first().waitFor();
  const claim = await holdRequest(page, '**/api/moderation/claims', 'answer');
  await page.keyboard.press('n');
  const row = page.locator('.row', { hasText: 'One' });
  await row.getByText('Claimed by you').waitFor();
  // The page reads the note when it hears of the end, and the answer to its claim arrives first.
  const read = await holdRequest(page, `**/api/moderation/notes/${id}`, 'answer');
  await service.database.pool.query('DELETE FROM note_leases');
  await bob.post('claims', { note_ids: [two.id] });
  await read.arrived;
  await claim.deliver();
  read.release();
  await row.getByText('Claim lost').waitFor();
});
