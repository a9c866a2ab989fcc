import t from 'tap';
import { addModerator, decide } from '../../harness/moderation.ts';
import { NEEDS_BROWSER, untilHandled } from '../support/browser.ts';
import { openConsoleWithNotes, untilToast } from '../support/console.ts';
import {
  accountLink,
  join,
  sendNote,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';

/** A script that sets the device's clock ahead. */
const clockAhead = (minutes: number) =>
  `{ const now = Date.now; Date.now = () => now() + ${minutes} * 60_000; }`;

t.test('keeps a device with a wrong clock signed in', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { first: clockAhead(35) });
  const { page } = visit;
  await join(visit, 'ada');
  await page.reload();
  await accountLink(page, 'ada').waitFor();
  t.equal(await page.getByText('Your session has ended').count(), 0);
});

t.test('shows an outcome although the clock was set back', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await page.evaluate(clockAhead(120));
  await sendNote(visit, 'Hello');
  const checked = page.waitForResponse('**/api/guestbook');
  await page.getByRole('button', { name: 'Check now' }).click();
  await untilHandled(page, checked);
  await page.reload();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  await decide(ann, (await ann.get('queue')).body.items[0].id, 'reject');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Not published', { exact: true }).waitFor();
});

t.test("defers by the service's clock", NEEDS_BROWSER, async (t) => {
  const { ann, page } = await openConsoleWithNotes(t, ['Hello']);
  await page.evaluate(clockAhead(5));
  const claimed = page.waitForResponse('**/api/moderation/claims');
  await page.keyboard.press('d');
  await untilHandled(page, claimed);
  await page.keyboard.press('4');
  await untilToast(page, /^Deferred/);
  t.equal((await ann.get('queue')).body.items.length, 0);
});

t.test('shows all times of an account by one clock', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, {
    timezoneId: 'America/New_York',
    locale: 'en-US',
  });
  const { page } = visit;
  await join(visit, 'ada');
  await accountLink(page, 'ada').click();
  await page.getByText('This session').waitFor();
  const times = await page.locator('main time').all();
  t.ok(times.length >= 3, 'signed in until; since and until of the session');
  for (const time of times) {
    const at = Date.parse((await time.getAttribute('datetime')) ?? '');
    const shown = (await time.textContent()) ?? '';
    t.equal(Date.parse(`${shown} UTC`), at - (at % 60_000), shown);
  }
});
