import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { bootstrap, newCredential } from '../../harness/agent.ts';
import { addModerator, decide } from '../../harness/moderation.ts';
import {
  checkAppearance,
  focusAfterClick,
  intercept,
  NEEDS_BROWSER,
  untilEqual,
  untilHandled,
  untilTrue,
  visit,
} from '../support/browser.ts';
import {
  accountLink,
  beginNote,
  join,
  readDownload,
  sendNote,
  signIn,
  startGuestbook,
  toKeyFile,
  untilConfirmed,
  visitGuestbook,
} from '../support/guestbook-page.ts';

t.test(
  'lets a member read a decision, appeal, withdraw and delete the account',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
    const ann = await addModerator(service, 'Ann');
    const visit = await visitGuestbook(t, service, { expected: /status of 401|net::ERR/ });
    const { page } = visit;
    const { sign_in_key = '' } = await join(visit, 'ada_l');
    await sendNote(visit, 'My engine, cheap');
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
    const field = await focusAfterClick(page.getByRole('button', { name: 'Appeal' }));
    t.equal(field, 'appeal', 'before the next key comes');
    await page.getByRole('button', { name: 'Send appeal' }).click();
    await page.getByText('Say why this note should appear.').waitFor();
    await page.getByLabel('Why should this note appear?').fill('It was a joke.');
    await checkAppearance(t, page, 'appeal');
    await page.getByRole('button', { name: 'Send appeal' }).click();
    await page.getByText('Your appeal is waiting').waitFor();
    await untilConfirmed(page, 'Your appeal was sent.');

    await sendNote(visit, 'A second thought');
    const second = page.locator('.own-note').filter({ hasText: 'A second thought' });
    await second.getByRole('button', { name: 'Withdraw' }).click();
    await second.getByRole('button', { name: 'Withdraw it' }).click();
    await second.getByText('Withdrawn by you').waitFor();
    await untilConfirmed(page, 'Note withdrawn.');

    await sendNote(visit, 'To stay');
    const third = (await ann.get('queue')).body.items.find(
      ({ state }: { state: string }) => state === 'pending',
    );
    await decide(ann, third.id, 'approve');

    await accountLink(page, 'ada_l').click();
    await page.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByLabel('Sign-in key', { exact: true }).fill(sign_in_key);
    await page.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('This is not your handle.').waitFor();
    await checkAppearance(t, page, 'delete');
    await page.getByLabel('Type ada_l to confirm').fill('ada_l');
    // It does not arrive, and is tried again after the credential's end: the account still lives.
    const states = async () =>
      (await service.database.pool.query('SELECT state FROM members')).rows;
    await intercept(page, '**/me/delete', (route) => route.abort('connectionreset'), { times: 1 });
    await page.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('Nothing is lost; try again').waitFor();
    await service.tamper('UPDATE credentials SET expires_at = clock_timestamp()');
    t.same(await states(), [{ state: 'active' }]);
    await page.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('Your account is deleted.').first().waitFor();
    t.same(await states(), [{ state: 'deactivated' }]);
    await untilEqual(t, () => page.getByText('Your notes').count(), 0);
    await page.goto(service.baseUrl);
    await page.getByRole('article').filter({ hasText: 'To stay' }).waitFor();
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  },
);

t.test('reports an unconfirmed deletion as unconfirmed', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 401|net::ERR/ });
  const { page } = visit;
  const { sign_in_key = '' } = await join(visit, 'ada_l');
  await accountLink(page, 'ada_l').click();
  await page.getByRole('button', { name: 'Delete my account' }).click();
  await page.getByLabel('Sign-in key', { exact: true }).fill(sign_in_key);
  await page.getByLabel('Type ada_l to confirm').fill('ada_l');
  const lost = async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  await intercept(page, '**/me/delete', lost, { times: 1 });
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByText('Nothing is lost; try again').waitFor();
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByText('most likely deleted, but this could not be confirmed').waitFor();
  await checkAppearance(t, page, 'delete-unconfirmed');
});

t.test('deletes published notes with the account on request', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  const { sign_in_key = '' } = await join(visit, 'ada_l');
  await sendNote(visit, 'To go with me');
  await decide(ann, (await ann.get('queue')).body.items[0].id, 'approve');
  await accountLink(page, 'ada_l').click();
  await page.getByRole('button', { name: 'Delete my account' }).click();
  await page.getByLabel('Sign-in key', { exact: true }).fill(sign_in_key);
  await page.getByLabel('Also remove my published notes').check();
  await page.getByLabel('Type ada_l to confirm').fill('ada_l');
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByText('Your account is deleted.').first().waitFor();
  await page.goto(service.baseUrl);
  await page.getByText('No notes here yet').waitFor();
});

t.test("shows a member's own notes only to that member", NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 401/ });
  const { page } = visit;
  await join(visit, 'ada_l');
  await sendNote(visit, 'Of Ada');
  await accountLink(page, 'ada_l').click();
  await page.getByText('Of Ada').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Of Ada').waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  t.equal(await page.getByText('Of Ada').count(), 0);
  await join(visit, 'grace');
  t.equal(await page.getByText('Of Ada').count(), 0);
});

t.test(
  'follows a sign-out when the browser shows a page as it was left',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t);
    const visit = await visitGuestbook(t, service);
    const { page } = visit;
    await join(visit, 'ada_l');
    await sendNote(visit, 'Of Ada');
    const shownAgain = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))";
    const until = await page.evaluate("localStorage.getItem('guestbook.session-until')");
    // A page notices no change of the storage by itself, as if another page had made it meanwhile.
    await page.evaluate(`localStorage.removeItem('guestbook.session-until'); ${shownAgain}`);
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
    t.equal(await page.getByText('Of Ada').count(), 0);
    await page.evaluate(`localStorage.setItem('guestbook.session-until', ${until}); ${shownAgain}`);
    await accountLink(page, 'ada_l').waitFor();
    await page.getByText('Of Ada').waitFor();
  },
);

t.test('reads the session once when another tab signs in', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page, context } = visit;
  await join(visit, 'twice');
  const other = await context.newPage();
  const asked: Page[] = [];
  context.on('request', (request) => {
    if (request.url().endsWith('/api/membership/me')) asked.push(request.frame().page());
  });
  /** What the first has written is known to the second, and what it asks for then is sent. */
  const told = async (first: Page, second: Page, mark: string) => {
    await first.evaluate(`localStorage.setItem('mark', '${mark}')`);
    await untilTrue(second, `window.mark === '${mark}'`);
  };
  const listen = `addEventListener('storage', ({ key, newValue }) => {
    if (key === 'mark') window.mark = newValue;
  })`;
  await other.addInitScript(listen);
  await page.evaluate(listen);
  const followed = page.waitForResponse('**/api/membership/me');
  await other.goto(service.baseUrl);
  await accountLink(other, 'twice').waitFor();
  await untilHandled(page, followed);
  await told(other, page, 'one');
  await told(page, other, 'two');
  t.same(
    asked.map((one) => (one === page ? 'page' : 'other')),
    ['other', 'page'],
  );
});

t.test('says that a session has ended and keeps the text', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service, { expected: /status of 401/ });
  const { page, context } = visit;
  const keys = await join(visit, 'sleepy');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('Still here');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your session has ended').waitFor();
  await signIn(visit, keys);
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await untilEqual(
    t,
    () => page.getByLabel('Your note', { exact: true }).inputValue(),
    'Still here',
  );

  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  const [{ id }] = (await ann.get('queue')).body.items;
  t.equal((await decide(ann, id, 'reject')).status, 201);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByRole('button', { name: 'Appeal' }).click();
  await page.getByLabel('Why should this note appear?').fill('It is true.');
  const over = async (ask: string) => {
    await context.clearCookies();
    await page.getByRole('button', { name: ask }).click();
    const said = page.locator('main').getByText('Your session has ended');
    await said.waitFor();
    await untilEqual(t, () => page.locator('.own-note').count(), 0, 'of the next member');
    await signIn(visit, keys);
    await said.waitFor({ state: 'detached' });
  };
  await over('Send appeal');
  await over('Check now');
  await page.getByRole('button', { name: 'Appeal' }).click();
  await untilEqual(
    t,
    () => page.getByLabel('Why should this note appear?').inputValue(),
    'It is true.',
  );
  await page.getByRole('button', { name: 'Send appeal' }).click();
  await page.getByText('Your appeal is waiting').waitFor();

  // In another tab its time is up. The clocks of two pages are put forward one after the other.
  const other = await context.newPage();
  await other.clock.install();
  await other.goto(service.baseUrl);
  const account = accountLink(other, 'sleepy');
  await account.waitFor();
  await page.goto('about:blank');
  await other.clock.fastForward('31:00');
  const said = other.locator('main').getByText('Your session has ended');
  await said.waitFor();
  await page.goto(service.baseUrl);
  await signIn(visit, keys);
  await said.waitFor({ state: 'detached' });
  await account.waitFor();
  // As a tab whose clock struck before.
  await page.evaluate(`localStorage.setItem('guestbook.session-until', '1');
    localStorage.removeItem('guestbook.session-until')`);
  await said.waitFor();
});

t.test(
  'shows sessions, credentials and the export on the account page',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t);
    const visit = await visitGuestbook(t, service);
    const { page } = visit;
    const keys = await join(visit, 'ada_l');
    const { id = '', sign_in_key = '' } = keys;
    const secondSession = await service.call('POST', '/api/membership/login', {
      body: { id, sign_in_key },
    });
    t.equal(secondSession.status, 200);
    const made = await bootstrap(service, { id, sign_in_key }, {
      ...newCredential(['updates:read']),
      label: 'Night shift',
    } as ReturnType<typeof newCredential>);
    t.equal(made.status, 201, made.text);

    await page.goto(`${service.baseUrl}/me`);
    await page.getByText('Another session').waitFor();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByText('Another session').waitFor({ state: 'detached' });
    await page.getByText('This session').waitFor();

    await page.getByRole('button', { name: 'Show my credentials' }).click();
    await page.getByLabel('Sign-in key', { exact: true }).fill(sign_in_key);
    await page.getByRole('dialog').getByRole('button', { name: 'Show my credentials' }).click();
    await page.getByText('Night shift').waitFor();
    await checkAppearance(t, page, 'me');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download my data' }).click();
    t.match(await readDownload(await downloading), { member: { handle: 'ada_l' } });
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No other credential is active.').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Write a note…' }).waitFor();
  },
);

t.test('publishes a profile, a case and a note on it, as people do', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 40[01]|net::ERR/ });
  const { page } = visit;
  const { sign_in_key = '' } = await join(visit, 'ada_l');
  const dialog = page.getByRole('dialog');
  const key = dialog.getByLabel('Sign-in key', { exact: true });
  await accountLink(page, 'ada_l').click();
  await page.getByRole('button', { name: 'Publish a profile' }).click();
  await dialog.getByRole('button', { name: 'Publish profile' }).click();
  await untilEqual(t, () => dialog.getByText('Write something here.').count(), 2);
  await dialog.getByText('Tick this to publish.').waitFor();
  await dialog.getByLabel('Name').fill('Ada');
  await dialog.getByLabel('About you').fill('Counts stars.');
  await dialog.getByLabel('Links').fill('https://example.org/\nno address');
  await dialog.getByLabel('Publish this under the policy').check();
  await key.fill(sign_in_key);
  await dialog.getByRole('button', { name: 'Publish profile' }).click();
  await dialog.getByText('Must be an absolute https URL').waitFor();
  await checkAppearance(t, page, 'publish-profile');
  await dialog.getByLabel('Links').fill('https://example.org/');
  await dialog.getByLabel('What you can do').fill('counting\n\n reading');
  await dialog.getByRole('button', { name: 'Publish profile' }).click();
  await page.waitForURL('**/members/ada_l');
  await page.getByText('Counts stars.').waitFor();
  t.same(await page.locator('.tags .tag').allInnerTexts(), ['counting', 'reading']);

  await page.goto(`${service.baseUrl}/cases`);
  await page.getByRole('link', { name: 'Open a case' }).click();
  await dialog.getByLabel('Title').fill('Find the moon');
  await dialog.getByLabel('Summary').fill('It was there');
  await dialog.getByLabel('What should be reached?').fill('To see it');
  await dialog.getByLabel('Acceptance criteria').fill('It is seen\nIt is drawn');
  await dialog.getByLabel('Publish this under the policy').check();
  await key.fill('0'.repeat(64));
  await dialog.getByRole('button', { name: 'Open case' }).click();
  await dialog.getByText('This key is not accepted').waitFor();
  await checkAppearance(t, page, 'publish-case');
  // The case is opened, but the answer is lost.
  const lost = async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  await intercept(page, '**/api/v1/cases', lost, { times: 1 });
  await key.fill(sign_in_key);
  await dialog.getByRole('button', { name: 'Open case' }).click();
  await dialog.getByText('The service cannot be reached. Nothing is lost').waitFor();
  await dialog.getByRole('button', { name: 'Open case' }).click();
  await page.getByRole('heading', { name: 'Find the moon' }).waitFor();
  t.same(await page.locator('.criteria > li').allInnerTexts(), ['It is seen', 'It is drawn']);
  const { cases } = (await service.call('GET', '/api/v1/cases')).body;
  t.equal(cases.length, 1, 'sent again, it is the same case');

  await page.getByRole('link', { name: 'Write a note on this case' }).click();
  await dialog.getByLabel('Your note').fill('It hides behind a cloud.');
  await dialog.getByLabel('Publish this under the policy').check();
  await key.fill(sign_in_key);
  await dialog.getByRole('button', { name: 'Publish note' }).click();
  await page.waitForURL(`**/cases/${cases[0].id}`);
  await page.getByText('It hides behind a cloud.').waitFor();

  await page.goto(`${service.baseUrl}/members`);
  await page.getByRole('link', { name: 'Publish yours' }).click();
  await untilEqual(t, () => dialog.getByLabel('About you').inputValue(), 'Counts stars.');
  await untilEqual(t, () => dialog.getByLabel('What you can do').inputValue(), 'counting\nreading');
});

t.test('renews a session before its end', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visited = await visitGuestbook(t, service);
  const { page, context } = visited;
  const keys = await join(visited, 'ada_l');
  await page.close();
  const later = await context.newPage();
  await later.clock.install();
  await later.goto(service.baseUrl);
  await accountLink(later, 'ada_l').waitFor();
  await beginNote({ page: later }, 'Half a thought');
  await later.clock.fastForward('20:00');
  t.equal(await later.getByText('You are signed in until').count(), 0);
  await later.clock.fastForward('06:00');
  await later.getByText('You are signed in until').waitFor();
  await checkAppearance(t, later, 'session-ends-soon');
  // A page that was opened after the sign-in does not have the key.
  await later.getByRole('button', { name: 'Stay signed in' }).click();
  await later.getByLabel('Key file').setInputFiles(toKeyFile(JSON.stringify(keys)));
  await later.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await later.getByText('You are signed in until').waitFor({ state: 'detached' });
  // Now it does.
  await later.clock.fastForward('26:00');
  await later.getByRole('button', { name: 'Stay signed in' }).click();
  await untilConfirmed(later, 'You stay signed in for 30 more minutes.');
  await later.getByText('You are signed in until').waitFor({ state: 'detached' });
  t.equal(
    await later.getByLabel('Your note', { exact: true }).inputValue(),
    'Half a thought',
    'what was typed stays',
  );
  await later.clock.fastForward('26:00');
  await later.getByRole('button', { name: 'Not now' }).click();
  await later.getByText('You are signed in until').waitFor({ state: 'detached' });
});

t.test('says on the account page why it needs scripts', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const { page } = await visit(t, `${service.baseUrl}/me`, { javaScriptEnabled: false });
  await page.getByText('Joining and signing in need JavaScript').waitFor();
  await page.getByRole('link', { name: 'write a note' }).click();
  await page.getByRole('heading', { name: 'Write a note' }).waitFor();
});
