import t, { type Test } from 'tap';
import { checkAppearance, NEEDS_BROWSER, untilEqual, type Visit } from '../support/browser.ts';
import {
  accountLink,
  endSession,
  join,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';

const NO_OFFERS =
  'PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false)';

/**
 * A visitor whose browser has an authenticator, which always finds the right finger. Without `offers`, the browser
 * uses no passkey before the button is pressed: this authenticator would not wait for the person.
 */
async function visitWithAuthenticator(t: Test, { offers = false } = {}) {
  const service = await startGuestbook(t, { TEST_HOST: 'localhost' });
  const visit = await visitGuestbook(t, service, { expected: /status of 4\d\d/ });
  if (!offers) {
    await visit.context.addInitScript(NO_OFFERS);
    await visit.page.evaluate(NO_OFFERS);
  }
  const devtools = await visit.context.newCDPSession(visit.page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const verifyUser = (isUserVerified: boolean) =>
    devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  return { service, visit, verifyUser, devtools, authenticatorId };
}

async function addPasskey({ page }: Visit, name: string, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Sign-in key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Add passkey' }).click();
}

async function enter({ page }: Visit): Promise<void> {
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
}

t.test('adds a passkey on the account page and signs in with it', NEEDS_BROWSER, async (t) => {
  const { visit, devtools, authenticatorId } = await visitWithAuthenticator(t);
  const { page } = visit;
  const keys = await join(visit, 'ada_l');
  await accountLink(page, 'ada_l').click();
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
  // The page was loaded anew, so it no longer has the key.
  await page.reload();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByText('Give it a name').waitFor();
  await checkAppearance(t, page, 'passkey-add');
  await page.getByLabel('Name').fill('Laptop');
  await page.getByLabel('Sign-in key', { exact: true }).fill('0'.repeat(64));
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByText('do not belong together').waitFor();
  await page.getByLabel('Sign-in key', { exact: true }).fill(keys.sign_in_key ?? '');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const line = page.getByRole('listitem').filter({ hasText: 'Laptop' });
  await line.getByText('never used').waitFor();
  const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
  t.match(credentials, [{ isResidentCredential: true, rpId: 'localhost' }], 'after one refusal');

  await endSession(page);
  await page.getByRole('banner').getByRole('button', { name: 'Join' }).waitFor();
  await enter(visit);
  await accountLink(page, 'ada_l').waitFor();
  await line.getByText('last used on').waitFor();
  await checkAppearance(t, page, 'passkeys');

  await line.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Old laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  const renamed = page.getByRole('listitem').filter({ hasText: 'Old laptop' });
  await renamed.getByRole('button', { name: 'Remove' }).click();
  await renamed.waitFor({ state: 'detached' });
  await endSession(page);
  await page.getByRole('banner').getByRole('button', { name: 'Join' }).waitFor();
  await enter(visit);
  await page.getByText('This passkey is not accepted.').waitFor();
  await checkAppearance(t, page, 'passkey-refused');
});

t.test('signs in with the passkey that the browser offers', NEEDS_BROWSER, async (t) => {
  const { visit } = await visitWithAuthenticator(t, { offers: true });
  const { page } = visit;
  const { sign_in_key = '' } = await join(visit, 'ada_l');
  await accountLink(page, 'ada_l').click();
  await addPasskey(visit, 'Laptop', sign_in_key);
  await page.getByRole('listitem').filter({ hasText: 'Laptop' }).waitFor();
  await endSession(page);
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click();
  await accountLink(page, 'ada_l').waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('says why the device gives no passkey', NEEDS_BROWSER, async (t) => {
  const { visit, verifyUser } = await visitWithAuthenticator(t);
  const { page } = visit;
  await enter(visit);
  await page.getByText('No passkey was used').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

  const { sign_in_key = '' } = await join(visit, 'ada_l');
  await accountLink(page, 'ada_l').click();
  await verifyUser(false);
  await addPasskey(visit, 'Laptop', sign_in_key);
  await page.getByText('No passkey was used').waitFor();
  await verifyUser(true);
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('listitem').filter({ hasText: 'Laptop' }).waitFor();
  await addPasskey(visit, 'The same', sign_in_key);
  await page.getByText('This device already has a passkey of your account.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  t.equal(await page.getByRole('listitem').filter({ hasText: 'The same' }).count(), 0);
});

t.test('says that an address without a name has no passkeys', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await join(visit, 'ada_l');
  await accountLink(page, 'ada_l').click();
  await page.getByText('There are no passkeys at this address').waitFor();
  t.equal(await page.getByRole('button', { name: 'Add a passkey' }).count(), 0);
  await endSession(page);
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click();
  await untilEqual(t, () => page.getByRole('button', { name: 'Use a passkey' }).count(), 0);
});
