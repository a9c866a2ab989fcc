import t from 'tap';
import { checkAppearance, intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  accountLink,
  join,
  signOut,
  startGuestbook,
  toKeyFile,
  visitGuestbook,
} from '../support/guestbook-page.ts';

t.test('creates keys in the page, saves them and signs in with them', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 4\d\d/ });
  const { page, context } = visit;
  await join(visit, 'first_one');
  await accountLink(page, 'first_one').click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await checkAppearance(t, page, 'account');
  await page.goBack();
  await signOut(page, 'first_one');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByLabel('Handle').fill('No');
  await page.getByRole('button', { name: 'Create keys' }).click();
  await page.getByText('Use 3 to 24').waitFor();
  await checkAppearance(t, page, 'join-handle');
  await page.getByLabel('Handle').fill('first_one');
  await page.getByRole('button', { name: 'Create keys' }).click();
  const values = page.locator('.keys dd > .code');
  await values.nth(2).waitFor();
  const [id, signIn, recovery] = await values.allInnerTexts();
  t.match(signIn, /^[0-9a-f]{64}$/);
  t.match(recovery, /^[0-9a-f]{64}$/);
  t.not(signIn, recovery);
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
  await checkAppearance(t, page, 'join-keys');
  await page.getByRole('button', { name: 'Join as first_one' }).click();
  await page.getByText('Save your keys first').waitFor();
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: 'Join as first_one' }).click();
  await page.getByText('This handle is taken').waitFor();
  await page.getByLabel('Handle').fill('moderator');
  await page.getByRole('button', { name: 'Create keys' }).click();
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: 'Join as moderator' }).click();
  await page.getByText('Must not be a reserved name.').waitFor();
  t.equal(await page.getByRole('alert').count(), 0, 'the error is shown once, beside the field');
  await page.getByLabel('Handle').fill('second_one');
  await page.getByRole('button', { name: 'Create keys' }).click();
  await page.getByRole('button', { name: 'Copy all' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const file = (await page.evaluate('navigator.clipboard.readText()')) as string;
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: 'Join as second_one' }).click();
  await accountLink(page, 'second_one').waitFor();

  const stored = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
  );
  const keys = JSON.parse(file);
  for (const key of [keys.sign_in_key, keys.recovery_key])
    t.notMatch(stored, key, 'the browser stores no key');

  await page.reload();
  await signOut(page, 'second_one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign in' }).last().click();
  await page.getByText('A key has 64 characters').waitFor();
  await page.getByLabel('Key file').setInputFiles(toKeyFile('a letter'));
  await page.getByText('This is not a key file.').waitFor();
  await checkAppearance(t, page, 'sign-in-errors');
  await page.getByLabel('Key file').setInputFiles(toKeyFile(file));
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await signOut(page, 'second_one');

  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Handle or member id').fill(keys.id);
  await page.getByLabel('Sign-in key').fill('0'.repeat(64));
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('do not belong together').waitFor();
  await page.getByLabel('Handle or member id').fill(file);
  await untilEqual(
    t,
    () => page.getByLabel('Sign-in key').inputValue(),
    keys.sign_in_key,
    'a pasted key file fills the fields',
  );
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await accountLink(page, 'second_one').waitFor();

  const other = await context.newPage();
  await other.goto(service.baseUrl);
  await signOut(other, 'second_one');
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
});

t.test('keeps the keys while their registration is unconfirmed', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 503/ });
  const { page } = visit;
  const error = { code: 'outcome_unconfirmed', message: 'Perhaps.' };
  await intercept(
    page,
    '**/membership/register',
    async (route) => {
      await route.fetch();
      await route.fulfill({ status: 503, json: { error } });
    },
    { times: 1 },
  );
  const joining = join(visit, 'ada');
  await page.getByText('We do not know whether this arrived').waitFor();
  await page.getByRole('button', { name: 'Join as ada' }).click();
  await joining;
});
