import { correction, generate } from 'lean-qr';
import type { Page } from 'playwright-core';
import t from 'tap';
import { addModerator } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { checkAppearance, holdRequest, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  accountLink,
  endSession,
  join,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';
import { startService } from '../support/service.ts';

/** Opens the step of joining that shows the keys. */
async function openKeys(page: Page, handle: string) {
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByLabel('Handle').fill(handle);
  await page.getByRole('button', { name: 'Create keys' }).click();
  await page.getByRole('heading', { name: 'Save your keys' }).waitFor();
}

/** What a password manager would find in the form of the dialog. */
const fieldsFor = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('dialog form input')]
    .filter(({ autocomplete }) => /username|password/.test(autocomplete))
    .map(({ type, autocomplete, value }) => [type, autocomplete, value])`) as Promise<string[][]>;

t.test('has the fields that password managers store and fill', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const { page } = await visitGuestbook(t, service);
  await openKeys(page, 'ada_l');
  const values = await page.locator('.keys dd > .code').allInnerTexts();
  const key = values[1] ?? '';
  t.strictSame(await fieldsFor(page), [
    ['text', 'username', 'ada_l'],
    ['password', 'new-password', key],
  ]);
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: 'Join as ada_l' }).click();
  await accountLink(page, 'ada_l').click();

  await page.getByRole('button', { name: 'Delete my account' }).click();
  await page.getByLabel('Sign-in key', { exact: true }).waitFor();
  t.strictSame(await fieldsFor(page), [
    ['text', 'username', 'ada_l'],
    ['password', 'current-password', ''],
  ]);
  await page.getByRole('button', { name: 'Close' }).click();

  await endSession(page);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  t.strictSame(await fieldsFor(page), [
    ['text', 'username webauthn', ''],
    ['password', 'current-password', ''],
  ]);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Signed in for 30 minutes. We never store your key.').waitFor();
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.getByText('Enter your handle, or choose your key file.').waitFor();
  await checkAppearance(t, page, 'sign-in');
  // As a member types both, the key from paper in groups.
  await page.getByLabel('Handle or member id').fill(' Ada_L');
  await page.getByLabel('Sign-in key').fill(` ${key.match(/.{8}/g)?.join(' ').toUpperCase()}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await accountLink(page, 'ada_l').waitFor();

  // The page has the key until it is left; then a password manager fills it in, as at the sign-in.
  const credentials = page.getByRole('button', { name: 'Show my credentials' });
  await credentials.click();
  await page.getByText('No other credential is active.').waitFor();
  t.equal(await dialog.count(), 0, 'the key is not asked for again');
  await page.reload();
  await credentials.click();
  await dialog.getByRole('heading', { name: 'Your sign-in key' }).waitFor();
  t.strictSame(await fieldsFor(page), [
    ['text', 'username', 'ada_l'],
    ['password', 'current-password', ''],
  ]);
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await page.getByLabel('Recovery key').waitFor();
  t.strictSame(await fieldsFor(page), [], 'no password manager fills in the recovery key');
});

t.test('shows keys in groups that are copied without gaps', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visitGuestbook(t, service);
  await openKeys(page, 'ada_l');
  const values = page.locator('.keys dd > .code');
  for (const [at, name] of ['member id', 'sign-in key', 'recovery key'].entries()) {
    const value = values.nth(at);
    t.match(await value.locator('span').allInnerTexts(), at === 0 ? { length: 1 } : { length: 8 });
    await value.click();
    t.equal(await page.evaluate('getSelection().toString()'), await value.innerText());
    t.notMatch(await value.innerText(), /\s/);
    await page.getByRole('button', { name: `Copy the ${name}` }).click();
    await page.getByRole('button', { name: `Copied the ${name}` }).waitFor();
    t.equal(await page.evaluate('navigator.clipboard.readText()'), await value.innerText());
  }
});

t.test('opens the form on a phone that scans the code', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page, context } = visit;
  await openKeys(page, 'ada_l');
  const key = await page.locator('.keys dd > .code').nth(1).innerText();
  const code = page.getByRole('img', { name: 'QR code' });
  t.notOk(await code.isVisible());
  await page.getByRole('button', { name: 'QR code' }).click();
  await code.waitFor();
  await checkAppearance(t, page, 'join-code');
  const link = `${service.baseUrl}/me#sign-in=ada_l.${key}`;
  const { size, get } = generate(link, { minCorrectionLevel: correction.L });
  const squares = Array.from({ length: size * size }, (_, at) => [at % size, (at / size) | 0]);
  const dark = squares.filter(([x = 0, y = 0]) => get(x, y)).map(([x, y]) => `M${x} ${y}h1v1h-1z`);
  t.equal(await code.locator('path').getAttribute('d'), dark.join(''));
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: 'Join as ada_l' }).click();
  await accountLink(page, 'ada_l').waitFor();

  await context.clearCookies();
  const phone = await context.newPage();
  const sent: string[] = [];
  phone.on('request', (request) => sent.push(request.url()));
  await phone.goto(link);
  const dialog = phone.getByRole('dialog');
  await untilEqual(t, () => dialog.getByLabel('Handle or member id').inputValue(), 'ada_l');
  t.equal(await phone.evaluate('location.href'), `${service.baseUrl}/me`, 'the key is not kept');
  t.notMatch(sent.join(' '), key, 'nor sent in an address');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await accountLink(phone, 'ada_l').waitFor();
});

t.test('asks once before new keys are thrown away', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await openKeys(page, 'ada_l');
  await page.keyboard.press('Escape');
  await dialog.getByText('You have not joined yet.').waitFor();
  const discard = dialog.getByRole('button', { name: 'Discard the keys' });
  const { y = 0 } = (await discard.boundingBox()) ?? {};
  t.ok(y > 0 && y < 900, 'the question is in sight');
  await checkAppearance(t, page, 'join-leaving');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await openKeys(page, 'ada_l');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.getByRole('button', { name: 'Discard the keys' }).click();
  await dialog.waitFor({ state: 'detached' });

  await openKeys(page, 'ada_l');
  const asked: string[] = [];
  page.on('dialog', (question) => {
    asked.push(question.type());
    void question.dismiss();
  });
  await page.evaluate('void setTimeout(() => location.reload())');
  await untilEqual(t, () => asked, ['beforeunload']);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.getByRole('button', { name: 'Discard the keys' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  t.same(asked, ['beforeunload'], 'and no more once they are discarded');

  const { recovery_key = '' } = await join(visit, 'grace');
  await accountLink(page, 'grace').click();
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await dialog.getByLabel('Recovery key').fill(recovery_key);
  await dialog.getByRole('button', { name: 'Create new keys' }).click();
  await dialog.getByRole('heading', { name: 'Save your new keys' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByText('Your old keys still work.').waitFor();
});

t.test('prints the keys and nothing else', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visitGuestbook(t, service, {
    first: 'window.printed = 0; window.print = () => { window.printed += 1; };',
  });
  await openKeys(page, 'ada_l');
  await page.getByRole('button', { name: 'Print' }).click();
  t.equal(await page.evaluate('window.printed'), 1);
  const keys = await page.locator('.keys dd > .code').allInnerTexts();
  await page.emulateMedia({ media: 'print' });
  const text = await page.innerText('body');
  for (const key of keys) t.match(text, key);
  t.match(text, `Keys of ada_l at ${service.baseUrl}`);
  t.notMatch(text, /Leave a note|Join as|Copy|Close/);
  t.ok(await page.getByRole('img', { name: 'QR code' }).isVisible());
});

t.test('names a disabled member who signs in with the handle', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const member = await signedIn(service);
  await lead.post(`members/${member.id}/disable`, { policy: 'spam', message: null, until: null });
  const { page } = await visitGuestbook(t, service, { expected: /status of 401/ });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Handle or member id').fill(member.handle);
  await page.getByLabel('Sign-in key').fill(member.sign_in_key);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Your membership is disabled' }).waitFor();
});

t.test('signs out without a notice while the page still reads', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /status of 401/ });
  const { page } = visit;
  await join(visit, 'ada_l');
  const read = await holdRequest(page, '**/api/membership/sessions', 'request');
  const signOut = await holdRequest(page, '**/api/membership/logout', 'answer');
  await accountLink(page, 'ada_l').click();
  await read.arrived;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signOut.arrived;
  await read.deliver();
  t.ok(await accountLink(page, 'ada_l').isVisible(), 'until the sign-out is answered');
  signOut.release();
  await page.getByRole('banner').getByRole('button', { name: 'Join' }).waitFor();
  t.equal(await page.getByText('Your session has ended').count(), 0);
});
