import t from 'tap';
import { addModerator } from '../../harness/moderation.ts';
import {
  checkAppearance,
  intercept,
  NEEDS_BROWSER,
  untilEqual,
  untilHandled,
} from '../support/browser.ts';
import {
  beginNote,
  join,
  openSecondTab,
  sendNote,
  signOut,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';
import { matchAll } from '../support/match-all.ts';
import { untilWindowLasts } from '../support/service.ts';

t.test('keeps a note through network failures and sends it once', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service, {
    expected: /net::ERR|Failed to load|status of 409/,
  });
  const { page, context } = visit;
  // The response is lost: the note arrives, but its author does not know.
  await intercept(page, '**/api/guestbook', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  await beginNote(visit, 'From a train');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your text is kept').waitFor();
  await checkAppearance(t, page, 'guestbook-unsent');
  await page.unroute('**/api/guestbook');

  await context.setOffline(true);
  // The message is already shown from before.
  const failed = page.waitForEvent('requestfailed');
  await page.getByRole('button', { name: 'Send again' }).click();
  await failed;
  await page.getByText('Your text is kept').waitFor();
  await context.setOffline(false);
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  t.equal((await ann.get('queue')).body.items.length, 1, 'one note, sent three times');

  await beginNote(visit, 'Half a th');
  await page.reload();
  await page.getByRole('button', { name: 'Write a note…' }).click();
  await untilEqual(
    t,
    () => page.getByLabel('Your note', { exact: true }).inputValue(),
    'Half a th',
    'a draft survives a reload',
  );

  const answer = await service.call('POST', '/api/guestbook', {
    body: {
      id: await page.evaluate('JSON.parse(localStorage["guestbook.draft.service.top"]).id'),
      message: 'As it was before it was changed',
    },
  });
  t.equal(answer.status, 202);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Sending this one posts a second note').waitFor();
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByLabel('Your note', { exact: true }).waitFor({ state: 'detached' });
  t.equal((await ann.get('queue')).body.items.length, 3);
});

t.test('keeps a draft per tab and that of a closed tab', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const { page, context } = await visitGuestbook(t, service);
  const other = await context.newPage();
  await other.goto(service.baseUrl);
  const here = await beginNote({ page }, '');
  const there = await beginNote({ page: other }, '');
  await here.fill('Written here');
  await there.fill('Written there');
  await page.reload();
  await page.getByRole('button', { name: 'Write a note…' }).click();
  await untilEqual(t, () => here.inputValue(), 'Written here');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await here.waitFor({ state: 'detached' });
  await other.close();
  const next = await context.newPage();
  await next.goto(service.baseUrl);
  await next.getByRole('button', { name: 'Write a note…' }).click();
  const left = next.getByLabel('Your note', { exact: true });
  await untilEqual(
    t,
    () => left.inputValue(),
    'Written there',
    "the other tab's sent draft is gone",
  );
  await next.getByRole('button', { name: 'Send for review' }).click();
  await left.waitFor({ state: 'detached' });
  const { items } = (await ann.get('queue')).body;
  t.same(
    items.map(({ text }: { text: string }) => text),
    ['Written here', 'Written there'],
  );
});

t.test("never sends a member's note as a guest's unasked", NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service, {
    expected: /net::ERR|Failed to load|status of 401/,
  });
  const { page, context } = visit;
  await join(visit, 'ada');
  await beginNote(visit, 'In my own name');
  const other = await openSecondTab(visit);
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your text is kept').waitFor();
  // Pretend that another tab signed out.
  await context.clearCookies();
  await other.endSession();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await context.setOffline(false);
  await page.getByText('Sign in again to continue as a member').waitFor();
  t.same((await ann.get('queue')).body.items, []);
  await page.getByLabel('a guest').check();
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  matchAll(t, (await ann.get('queue')).body.items, [{ author: { kind: 'guest' } }]);
});

t.test(
  'tries again if the first request fails although the network is back',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t);
    const visit = await visitGuestbook(t, service, { expected: /net::ERR|Failed to load/ });
    const { page, context } = visit;
    await beginNote(visit, 'Through the tunnel');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Send for review' }).click();
    await page.getByText('Your text is kept').waitFor();
    let refused = 0;
    await intercept(page, '**/api/guestbook', async (route) => {
      if (route.request().method() !== 'POST' || refused > 0) return route.continue();
      refused++;
      return route.abort('internetdisconnected');
    });
    await context.setOffline(false);
    await page.getByText('Waiting for review', { exact: true }).waitFor();
    t.equal(refused, 1);
  },
);

t.test('does not send a postponed note', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /net::ERR|Failed to load/ });
  const { page, context } = visit;
  await beginNote(visit, 'For another day');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your text is kept').waitFor();
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.postDataJSON().message);
  });
  await context.setOffline(false);
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  t.equal(sent[0], 'For another day', 'a note that was not postponed is sent');

  await beginNote(visit, 'For yet another day');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your text is kept').waitFor();
  sent.length = 0;
  // In one task, because the effect of closing the form must not end a frame later.
  await page.evaluate(`{
    const later = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Save draft');
    later.click();
    Promise.resolve().then(() => dispatchEvent(new Event('online')));
  }`);
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Write a note…' }).waitFor();
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
  // The page asks for the state of the first note with its text.
  t.notOk(sent.includes('For yet another day'));
});

t.test('shows refusals beside the form and keeps the text', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1' });
  const visit = await visitGuestbook(t, service, { expected: /status of 4\d\d/ });
  const { page } = visit;
  // Test this before the limit is reached, which shows the same place.
  const field = await beginNote(visit, 'a\u0007b');
  await page.keyboard.press('Control+Enter');
  await page.getByText('There is an invisible character after “a”.').waitFor();
  await untilEqual(t, () => field.inputValue(), 'a\u0007b');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await untilWindowLasts(service.database.pool);
  await sendNote(visit, 'One');
  await beginNote(visit, 'Two');
  await page.keyboard.press('Control+Enter');
  await page.getByText('some limits last until tomorrow').waitFor();
  await untilEqual(t, () => field.inputValue(), 'Two');
});

for (const [how, storage] of [
  ['forbidden', "get() { throw new DOMException('No.', 'SecurityError'); }"],
  ['full', "value: { getItem: () => null, setItem() { throw Error('full'); }, removeItem() {} }"],
] as const)
  t.test(`works when storage is ${how}`, NEEDS_BROWSER, async (t) => {
    const service = await startGuestbook(t);
    const visit = await visitGuestbook(t, service, {
      first: `for (const area of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, area, { ${storage} });`,
    });
    const { page } = visit;
    const field = await beginNote(visit, 'Half a thought');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('button', { name: 'Write a note…' }).click();
    await untilEqual(t, () => field.inputValue(), 'Half a thought');
    await page.getByRole('button', { name: 'Send for review' }).click();
    await field.waitFor({ state: 'detached' });
    await sendNote(visit, 'Another');
    const looked = page.waitForResponse('**/api/guestbook');
    await page.getByRole('button', { name: 'Check now' }).click();
    await untilHandled(page, looked);
    await untilEqual(t, () => page.locator('.own-note .message').allInnerTexts(), [
      'Another',
      'Half a thought',
    ]);
  });

t.test('names the place of an invisible character and removes it', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  const field = await beginNote(visit, 'From a slide\u000b and a\u0007 bell');
  await page.getByText('There is an invisible character after “a”.').waitFor();
  await checkAppearance(t, page, 'guestbook-invisible');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await untilEqual(t, () => field.getAttribute('aria-invalid'), 'true');
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByRole('button', { name: 'Send for review' }).click();
  await field.waitFor({ state: 'detached' });
  t.match((await ann.get('queue')).body.items, [{ text: 'From a slide\n and a bell' }]);
});

t.test('keeps the draft of a member from the next member', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await join(visit, 'first_member');
  await (await beginNote(visit, 'By the first member')).blur();
  await signOut(page, 'first_member');
  await page.getByRole('button', { name: 'Write a note…' }).click();
  const empty = page.getByLabel('Your note', { exact: true });
  t.equal(await empty.inputValue(), '', 'gone with an explicit sign-out');
  await page.reload();
  await join(visit, 'second_member');
  const field = await beginNote(visit, 'By the second member');
  await (await openSecondTab(visit)).endSession();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await untilEqual(
    t,
    () => field.inputValue(),
    'By the second member',
    'kept when a session ends by itself',
  );
});
