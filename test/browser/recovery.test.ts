import t from 'tap';
import { checkAppearance, intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  accountLink,
  join,
  readDownload,
  signOut,
  startGuestbook,
  toKeyFile,
  untilConfirmed,
  visitGuestbook,
} from '../support/guestbook-page.ts';

t.test('replaces both keys, also when the response is lost', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 401|net::ERR/ });
  const { page } = visit;
  const old = await join(visit, 'forgetful');
  await signOut(page, 'forgetful');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Use the recovery key' }).click();
  await checkAppearance(t, page, 'recover');
  await page.getByRole('button', { name: 'Create new keys' }).click();
  await page.getByText('Choose your key file, or paste the member id.', { exact: true }).waitFor();
  await page.getByLabel('Key file').setInputFiles(toKeyFile(JSON.stringify(old)));
  await page.getByRole('button', { name: 'Create new keys' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download key file' }).click();
  const download = await downloading;
  t.match(download.suggestedFilename(), /^guestbook-keys-forgetful-\d{4}-\d\d-\d\d\.json$/);
  const fresh = await readDownload(download);
  t.match(fresh, { handle: 'forgetful', created_at: /Z$/ });
  t.equal(fresh.id, old.id);
  await page.getByLabel('I saved my keys').check();
  await intercept(page, '**/recover', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await page.getByText('Nothing is lost; try again').waitFor();
  await page.unroute('**/recover');
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await untilConfirmed(page, 'Your keys are replaced.');
  await accountLink(page, 'forgetful').waitFor();
  const login = (keys: Record<string, string>) =>
    service.call('POST', '/api/membership/login', {
      body: { id: keys.id, sign_in_key: keys.sign_in_key },
    });
  t.equal((await login(old)).status, 401);
  t.equal((await login(fresh)).status, 200);
});

t.test('names what is missing or wrong in a recovery and retries', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 4\d\d/ });
  const { page } = visit;
  const { id, recovery_key } = await join(visit, 'forgetful');
  await accountLink(page, 'forgetful').click();
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  const dialog = page.getByRole('dialog');
  const [proceed, replace] = ['Create new keys', 'Replace my keys'].map((name) =>
    dialog.getByRole('button', { name }),
  );
  await untilEqual(
    t,
    () => dialog.getByLabel('Member id').inputValue(),
    id,
    'the id of the signed-in member is filled in',
  );
  const recoveryKey = dialog.getByLabel('Recovery key');
  await proceed?.click();
  await dialog.getByText('A key has 64 characters').waitFor();
  await recoveryKey.fill('0'.repeat(64));
  await proceed?.click();
  await replace?.waitFor();
  t.equal(
    await dialog.getByText('Save your keys first').count(),
    0,
    'no error before the first attempt',
  );
  await replace?.click();
  await dialog.getByText('Save your keys first').waitFor();
  await dialog.getByLabel('I saved my keys').check();
  await replace?.click();
  await dialog
    .getByText('This name and key do not belong together, or the key was replaced. Check both.', {
      exact: true,
    })
    .waitFor();
  await recoveryKey.fill(recovery_key ?? '');
  await proceed?.click();
  // The keys are replaced, but the following sign-in fails.
  await intercept(
    page,
    '**/membership/login',
    (route) => route.fulfill({ status: 429, json: { error: { code: 'rate_limited' } } }),
    { times: 1 },
  );
  await replace?.click();
  await dialog.getByText('Too many requests').waitFor();
  await replace?.click();
  await dialog.waitFor({ state: 'detached' });
  await accountLink(page, 'forgetful').waitFor();
});
