import { Buffer } from 'node:buffer';
import t from 'tap';
import { look, NEEDS_BROWSER } from '../harness/browser.ts';
import {
  join,
  readDownload,
  startGuestbook,
  visitGuestbook,
  write,
} from '../harness/guestbook-page.ts';
import { decide, hire } from '../harness/moderation.ts';

const asFile = (text: string) => ({
  name: 'keys.json',
  mimeType: 'application/json',
  buffer: Buffer.from(text),
});

t.test('joining: keys made in the page, kept, and used to come back', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const visit = await visitGuestbook(t, whole, { expected: /status of 4\d\d/ });
  const { page, context } = visit;
  await join(visit, 'first_one');
  await page.getByRole('button', { name: 'Your account' }).click();
  await look(t, page, 'account');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByLabel('Handle').fill('No');
  await page.getByRole('button', { name: 'Make my keys' }).click();
  await page.getByText('Use 3 to 24').waitFor();
  await look(t, page, 'join-handle');
  await page.getByLabel('Handle').fill('first_one');
  await page.getByRole('button', { name: 'Make my keys' }).click();
  const [id, signIn, recovery] = await page.locator('.keys dd').allInnerTexts();
  t.match(signIn, /^[0-9a-f]{64}$/);
  t.match(recovery, /^[0-9a-f]{64}$/);
  t.not(signIn, recovery);
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
  await look(t, page, 'join-keys');
  await page.getByRole('button', { name: 'Join as first_one' }).click();
  await page.getByText('Keep them first').waitFor();
  await page.getByLabel('I keep the file').check();
  await page.getByRole('button', { name: 'Join as first_one' }).click();
  await page.getByText('This handle belongs to somebody else').waitFor();
  await page.getByLabel('Handle').fill('second_one');
  await page.getByRole('button', { name: 'Make my keys' }).click();
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const file = (await page.evaluate('navigator.clipboard.readText()')) as string;
  await page.getByLabel('I keep the file').check();
  await page.getByRole('button', { name: 'Join as second_one' }).click();
  await page.getByRole('button', { name: 'Your account, second_one' }).waitFor();

  const stored = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
  );
  const keys = JSON.parse(file);
  for (const key of [keys.sign_in_key, keys.recovery_key])
    t.notMatch(stored, key, 'no key is kept by the browser');

  await page.reload();
  await page.getByRole('button', { name: 'Your account, second_one' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign in' }).last().click();
  await page.getByText('A key has 64 characters').waitFor();
  await page.getByLabel('Key file').setInputFiles(asFile('a letter'));
  await page.getByText('This is not a key file.').waitFor();
  await look(t, page, 'sign-in-errors');
  await page.getByLabel('Key file').setInputFiles(asFile(file));
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Your account, second_one' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();

  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Member id').fill(keys.id);
  await page.getByLabel('Sign-in key').fill('0'.repeat(64));
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('do not belong together').waitFor();
  await page.getByLabel('Member id').fill(file);
  t.equal(await page.getByLabel('Sign-in key').inputValue(), keys.sign_in_key, 'a pasted file');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Your account, second_one' }).waitFor();

  const other = await context.newPage();
  await other.goto(whole.service.baseUrl);
  await other.getByRole('button', { name: 'Your account, second_one' }).click();
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
});

t.test('recovery replaces both keys, also when its answer is lost', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const visit = await visitGuestbook(t, whole, { expected: /status of 401|net::ERR/ });
  const { page } = visit;
  const old = await join(visit, 'forgetful');
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Use the recovery key' }).click();
  await look(t, page, 'recover');
  await page.getByLabel('Key file').setInputFiles(asFile(JSON.stringify(old)));
  await page.getByRole('button', { name: 'Make new keys' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download key file' }).click();
  const fresh = await readDownload(await downloading);
  t.equal(fresh.id, old.id);
  await page.getByLabel('I keep the file').check();
  await page.route('**/recover', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await page.getByText('Nothing is lost: try again').waitFor();
  await page.unroute('**/recover');
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await page.getByRole('button', { name: 'Your account, forgetful' }).waitFor();
  const login = (keys: Record<string, string>) =>
    whole.service.call('POST', '/api/membership/login', {
      body: { id: keys.id, sign_in_key: keys.sign_in_key },
    });
  t.equal((await login(old)).status, 401);
  t.equal((await login(fresh)).status, 200);
});

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
    t.equal(item.author.handle, 'ada_l');
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
    // The answer is lost: the page finds out by itself what became of it.
    await page.route('**/me/delete', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Delete for ever' }).click();
    await page.getByText('Nothing is lost: try again').waitFor();
    await page.getByRole('button', { name: 'Delete for ever' }).click();
    await page.getByText('Your account is deleted.').waitFor();
    t.equal(await page.getByText('Your notes').count(), 0);
    await page.reload();
    await page.getByRole('article').filter({ hasText: 'To stay' }).waitFor();
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  },
);

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

t.test('everything works from the keyboard alone', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const ann = await hire(whole.service, 'Ann');
  const { page } = await visitGuestbook(t, whole);
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const tabTo = async (name: string) => {
    for (let tabs = 0; tabs < 30; tabs++) {
      await press('Tab');
      if ((await page.evaluate('document.activeElement.innerText')) === name) return;
    }
    t.fail(`${name} is not reached by Tab`);
  };
  await press('Tab');
  t.equal(await page.evaluate('document.activeElement.innerText'), 'Skip to the notes');
  t.equal(await page.getByText('Skip to the notes').isVisible(), true);
  await press('Enter');
  t.equal(await page.evaluate('document.activeElement.id'), 'content');
  await tabTo('Write a note…');
  await press('Enter');
  await page.waitForFunction('document.activeElement.name === "message"');
  await page.keyboard.type('By hand');
  await press('Control+Enter');
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  const [item] = (await ann.get('queue')).body.items;
  t.equal(item.message, 'By hand');
  await page.waitForFunction('document.activeElement.innerText === "Write a note…"');

  await page.reload();
  await tabTo('Join');
  await press('Enter');
  await page.waitForFunction('document.activeElement.closest("dialog") !== null');
  await tabTo('Close');
  await press('Escape');
  await page.waitForFunction('document.activeElement.innerText === "Join"');
  await press('Enter');
  while ((await page.evaluate('document.activeElement.name')) !== 'handle') await press('Tab');
  await page.keyboard.type('by_keys');
  await press('Enter');
  await page.getByText('These keys are your account').waitFor();
  while ((await page.evaluate('document.activeElement.type')) !== 'checkbox') await press('Tab');
  await press('Space', 'Enter');
  await page.getByRole('button', { name: 'Your account, by_keys' }).waitFor();
});
