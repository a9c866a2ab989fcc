import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { NEEDS_BROWSER, untilHandled, visit } from '../support/browser.ts';
import { openConsoleWithNotes, signIn as signInAtConsole, untilToast } from '../support/console.ts';
import {
  accountLink,
  join,
  sendNote,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

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

t.test('shows all times of an account by the clock of the reader', NEEDS_BROWSER, async (t) => {
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
    const title = (await time.getAttribute('title')) ?? '';
    const [, offset = ''] = /GMT([+-]\d+)$/.exec(title) ?? [];
    t.ok(['-4', '-5'].includes(offset), `the zone in the title: ${title}`);
    const asUtc = Date.parse(`${shown} UTC`) - Number(offset) * 3_600_000;
    t.equal(asUtc, at - (at % 60_000), shown);
  }
  await page.getByText('Times: America/New_York').waitFor();
});

t.test('says that times are in UTC where no script runs', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  await furnishSite(service);
  const { page } = await visit(t, service.baseUrl, {
    timezoneId: 'America/New_York',
    javaScriptEnabled: false,
  });
  for (const path of ['/', '/cases', '/packets', '/members', '/activity', '/search?q=telescope']) {
    await page.goto(service.baseUrl + path);
    await page.getByText('Times: UTC').waitFor();
    const times = await page.locator('time').all();
    t.ok(times.length > 0, path);
    for (const time of times) t.match(await time.textContent(), /\b\d\d:\d\d UTC$/, path);
  }
});

t.test('writes times in the console as on the site', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service);
  const { page } = await visit(t, `${service.baseUrl}/moderation`, {
    expected: /status of 401/,
    locale: 'en-US',
    timezoneId: 'America/New_York',
  });
  await signInAtConsole(page, ann);
  const time = page.locator('.note time').first();
  await time.waitFor();
  t.match(await time.textContent(), /^\d\d:\d\d$/, 'without AM or PM');
  t.match(await time.getAttribute('title'), /\d\d:\d\d GMT-[45]$/);
});
