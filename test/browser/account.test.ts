import type { Route } from 'playwright-core';
import t from 'tap';
import { intercept, look, NEEDS_BROWSER } from '../harness/browser.ts';
import { join, startGuestbook, visitGuestbook, write } from '../harness/guestbook-page.ts';
import { decide, hire } from '../harness/moderation.ts';

t.test(
  'a member learns why, appeals, withdraws, and deletes the account',
  NEEDS_BROWSER,
  async (t) => {
    const whole = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
    const ann = await hire(whole.service, 'Ann');
    const visit = await visitGuestbook(t, whole, { expected: /status of 401|net::ERR/ });
    const { page } = visit;
    await join(visit, 'ada_l');
    await write(visit, 'My engine, cheap');
    const [item] = (await ann.get('queue')).body.items;
    t.equal(item.author.name, 'ada_l');
    const rejected = await ann.post(`notes/${item.id}/decisions`, {
      action: 'reject',
      expected_version: item.version,
      policy: 'spam',
      message: 'Please do not sell things here.',
    });
    t.equal(rejected.status, 201, rejected.text);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Please do not sell things here.').waitFor();
    await page.getByRole('button', { name: 'Appeal' }).click();
    await page.getByRole('button', { name: 'Send appeal' }).click();
    await page.getByText('Say why it should appear.').waitFor();
    await page.getByLabel('Why should it appear?').fill('It was a joke.');
    await look(t, page, 'appeal');
    await page.getByRole('button', { name: 'Send appeal' }).click();
    await page.getByText('Your appeal waits').waitFor();

    await write(visit, 'A second thought');
    const second = page.locator('.own-note').filter({ hasText: 'A second thought' });
    await second.getByRole('button', { name: 'Withdraw' }).click();
    await second.getByRole('button', { name: 'Withdraw it' }).click();
    await second.getByText('Withdrawn by you').waitFor();

    await write(visit, 'To stay');
    const third = (await ann.get('queue')).body.items.find(
      ({ state }: { state: string }) => state === 'pending',
    );
    await decide(ann, third.id, 'approve');

    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByRole('button', { name: 'Delete for ever' }).click();
    await page.getByText('This is not your handle.').waitFor();
    await look(t, page, 'delete');
    await page.getByLabel('Write ada_l to confirm').fill('ada_l');
    // It does not arrive, and is tried again after the credential's end: the account still lives.
    const states = async () =>
      (await whole.service.database.pool.query('SELECT state FROM members')).rows;
    await intercept(page, '**/me/delete', (route) => route.abort('connectionreset'), { times: 1 });
    await page.getByRole('button', { name: 'Delete for ever' }).click();
    await page.getByText('Nothing is lost: try again').waitFor();
    await whole.service.tamper('UPDATE credentials SET expires_at = clock_timestamp()');
    t.same(await states(), [{ state: 'active' }]);
    await page.getByRole('button', { name: 'Delete for ever' }).click();
    await page.getByText('Your account is deleted.').first().waitFor();
    t.same(await states(), [{ state: 'deactivated' }]);
    t.equal(await page.getByText('Your notes').count(), 0);
    await page.reload();
    await page.getByRole('article').filter({ hasText: 'To stay' }).waitFor();
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  },
);

t.test('a deletion that nobody was told of is not called one', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const visit = await visitGuestbook(t, whole, { expected: /status of 401|net::ERR/ });
  const { page } = visit;
  await join(visit, 'ada_l');
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('button', { name: 'Delete my account' }).click();
  await page.getByLabel('Write ada_l to confirm').fill('ada_l');
  const lost = async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  await intercept(page, '**/me/delete', lost, { times: 1 });
  await page.getByRole('button', { name: 'Delete for ever' }).click();
  await page.getByText('Nothing is lost: try again').waitFor();
  await page.getByRole('button', { name: 'Delete for ever' }).click();
  await page.getByText('Most likely it is deleted, but that could not be confirmed').waitFor();
  await look(t, page, 'delete-unconfirmed');
});

t.test('a session that ended is said, and the text is kept', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const visit = await visitGuestbook(t, whole, { expected: /status of 401/ });
  const { page, context } = visit;
  await join(visit, 'sleepy');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('Still here');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your session has ended').waitFor();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  t.equal(await page.getByLabel('Your note', { exact: true }).inputValue(), 'Still here');
});
