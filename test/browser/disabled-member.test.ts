import t from 'tap';
import { addModerator, type Moderator, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole, untilToast } from '../support/console.ts';
import {
  accountLink,
  join,
  readDownload,
  sendNote,
  signIn,
  startGuestbook,
  toKeyFile,
  visitGuestbook,
} from '../support/guestbook-page.ts';
import { advanceTime } from '../support/passing-time.ts';
import { startService } from '../support/service.ts';

type Keys = Record<string, string>;
type Page = Awaited<ReturnType<typeof visitGuestbook>>['page'];

const WORDS = 'Nine adverts in an hour.';
const REFUSED = /status of 401/;

async function disable(lead: Moderator, { id }: Keys): Promise<void> {
  const body = { policy: 'spam', message: WORDS, until: null };
  const disabled = await lead.post(`members/${id}/disable`, body);
  t.equal(disabled.status, 201, disabled.text);
}

/** Proves a key in the dialog to sign in. */
async function proveKey(page: Page, keys: Keys): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Key file').setInputFiles(toKeyFile(JSON.stringify(keys)));
  await dialog.getByRole('button', { name: 'Sign in' }).click();
}

t.test('a disabled member deletes the account', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const visit = await visitGuestbook(t, service, { expected: /status of 40[01]/ });
  const { page } = visit;
  const keys = await join(visit, 'advertiser');
  await disable(lea, keys);
  await page.reload();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await proveKey(page, keys);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('may still be undone').waitFor();
  t.notMatch(await dialog.innerText(), /adverts|Spam/, 'no reason within the undo window');
  t.equal(await dialog.getByRole('button', { name: 'Appeal' }).count(), 0);
  await dialog.getByRole('button', { name: 'Delete my account' }).click();
  const confirm = dialog.getByLabel('Type your handle to confirm');
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await dialog.getByText('Type your handle.').waitFor();
  await confirm.fill('somebody_else');
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await dialog.getByText('This is not your handle.').waitFor();
  await checkAppearance(t, page, 'disabled-delete');
  await confirm.fill('advertiser');
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await page.getByText('Your account is deleted.').first().waitFor();
  const { rows } = await service.database.pool.query('SELECT state FROM members');
  t.same(rows, [{ state: 'deactivated' }]);
});

t.test('a recovery says that the membership stays disabled', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const lea = await addModerator(service, 'Lea', 'lead');
  const visit = await visitGuestbook(t, service, { expected: REFUSED });
  const { page } = visit;
  const keys = await join(visit, 'advertiser');
  await disable(lea, keys);
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  await page.getByRole('button', { name: 'Use the recovery key' }).click();
  await page.getByLabel('Key file').setInputFiles(toKeyFile(JSON.stringify(keys)));
  await page.getByRole('button', { name: 'Create new keys' }).click();
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await page.getByRole('heading', { name: 'Your membership is disabled' }).waitFor();
  await page.getByText(WORDS).waitFor();
  await page.getByText('Your keys are replaced.').first().waitFor({ state: 'attached' });
});

/** Opens a view of the console, and its first item. */
async function openFirst(page: Page, view: RegExp): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: view }).click();
  await page.locator('.row-main').first().click();
}

t.test(
  'an abuser is stopped in the console, learns why, appeals and is restored by another lead',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
    const [lea, leo] = [
      await addModerator(service, 'Lea', 'lead'),
      await addModerator(service, 'Leo', 'lead'),
    ];
    const visit = await visitGuestbook(t, service, { expected: REFUSED });
    const member = visit.page;
    const keys = await join(visit, 'advertiser');
    await sendNote(visit, 'Watches, cheap');

    const first = (await openConsole(t, service, lea)).page;
    await first.locator('.row', { hasText: 'Watches, cheap' }).click();
    await first.keyboard.press('h');
    const drawer = first.locator('.drawer');
    await drawer.getByText('Membership: enabled').waitFor();
    await drawer.getByRole('button', { name: 'Disable membership…' }).click();
    const dialog = first.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Disable membership' }).click();
    await dialog.getByText('Choose a policy.').waitFor();
    await dialog.getByLabel('Spam').check();
    await dialog.getByLabel('30 days').check();
    await dialog.getByLabel('Message to the member').fill(WORDS);
    await dialog.getByRole('button', { name: 'Disable membership' }).click();
    await untilToast(first, 'Disabled: spam “advertiser”');
    await drawer.getByText('Membership: disabled').waitFor();
    await drawer.getByText(WORDS).waitFor();

    await member.reload();
    await member.getByRole('button', { name: 'Join', exact: true }).waitFor();
    const disabled = member.getByRole('dialog');
    await proveKey(member, { ...keys, sign_in_key: keys.recovery_key ?? '' });
    await disabled.getByText('do not belong together').waitFor();
    t.notMatch(await member.innerText('body'), /disabled|adverts/, 'a stranger learns nothing');
    await disabled.getByRole('button', { name: 'Close' }).click();

    await proveKey(member, keys);
    await member.getByRole('heading', { name: 'Your membership is disabled' }).waitFor();
    await disabled.getByText('Reason: Spam.').waitFor();
    await disabled.getByText(WORDS).waitFor();
    t.notMatch(await disabled.innerText(), 'Lea', 'the moderator is not named');
    await checkAppearance(t, member, 'disabled');
    await disabled.getByRole('button', { name: 'Appeal' }).click();
    await disabled.getByRole('button', { name: 'Send appeal' }).click();
    await disabled.getByText('Say why your membership should be restored.').waitFor();
    const field = disabled.getByLabel('Why should your membership be restored?');
    await field.fill('It was my brother.');
    await checkAppearance(t, member, 'disabled-appeal');
    await disabled.getByRole('button', { name: 'Send appeal' }).click();
    await disabled.getByText('Your appeal is waiting for a different moderator.').waitFor();
    t.equal(await disabled.getByRole('button', { name: 'Appeal' }).count(), 0, 'once');
    const downloading = member.waitForEvent('download');
    await disabled.getByRole('button', { name: 'Download my data' }).click();
    const data = (await readDownload(await downloading)) as Record<string, unknown>;
    t.match(data.disabling_appeals, [{ text: 'It was my brother.', state: 'open' }]);
    await disabled.getByRole('button', { name: 'Close' }).click();

    await openFirst(first, /^Appeals/);
    await first.getByText('another moderator must decide the appeal').waitFor();
    t.equal(await first.getByRole('button', { name: 'Grant the appeal' }).count(), 0);
    await first.keyboard.press('a');
    await untilToast(first, 'another moderator must decide the appeal');

    const second = (await openConsole(t, service, leo)).page;
    await openFirst(second, /^Appeals\s*1/);
    const item = second.locator('.note');
    await item.getByRole('heading', { name: 'Membership of advertiser' }).waitFor();
    await item.getByText('Disabled: Spam by Lea').waitFor();
    for (const text of [WORDS, 'It was my brother.'])
      await item.locator('.note-scroll .quoted', { hasText: text }).first().waitFor();
    await item.locator('.history').getByText('appealed by').waitFor();
    await item.getByText('the member was notified').waitFor();
    await checkAppearance(t, second, 'moderation-member-appeal');
    await second.keyboard.press('a');
    await untilToast(second, 'Appeal granted');
    await second.getByText('There are no open appeals').waitFor();

    await signIn(visit, keys);
    await accountLink(member, 'advertiser').waitFor();
  },
);

t.test('a lead upholds an appeal with words, and undoes it', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [lea, leo] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Leo', 'lead'),
  ];
  const member = await signedIn(service);
  await disable(lea, member);
  await advanceTime(service, '11 minutes');
  const proof = { id: member.id, sign_in_key: member.sign_in_key };
  const ask = (path = '', more: object = {}) =>
    service.call('POST', `/api/membership/disabled${path}`, { body: { ...proof, ...more } });
  t.equal((await ask('/appeal', { text: 'Please' })).status, 202);
  const stateOf = async () =>
    (await leo.get(`subjects/member/${member.id}`)).body.item.appeal.state as string;

  const { page } = await openConsole(t, service, leo);
  await openFirst(page, /^Appeals\s*1/);
  await page.locator('.note').getByRole('button', { name: 'Claim' }).click();
  await page.locator('.row').getByText('Claimed by you').waitFor();
  await page.keyboard.press('r');
  await page.getByLabel('Message to the member').fill('It was your address.');
  await page.keyboard.press('Enter');
  await untilToast(page, 'Decision upheld');
  t.equal(await stateOf(), 'upheld');
  t.match((await ask()).body.appeal, { state: 'open' }, 'the member learns it after the window');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone');
  t.equal(await stateOf(), 'open');
  await page.locator('.row', { hasText: 'Please' }).waitFor();
});

t.test(
  'a lead disables a membership by keyboard, and undoes and lifts it',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const lea = await addModerator(service, 'Lea', 'lead');
    const mo = await addModerator(service, 'Mo');
    const member = await signedIn(service);
    await submitAs(service, member, { message: 'Watches, cheap' });
    const { page } = await openConsole(t, service, lea);
    const drawer = page.locator('.drawer');
    const dialog = page.getByRole('dialog');
    const disableByKeys = async () => {
      await drawer.getByRole('button', { name: 'Disable membership…' }).focus();
      await page.keyboard.press('Enter');
      await dialog.getByRole('heading', { name: 'Disable this membership?' }).waitFor();
      await page.keyboard.press('Space');
      await page.keyboard.press('a');
      t.equal(await page.locator('.row.is-deciding').count(), 0, 'the dialog has the keys');
    };
    await page.locator('.row', { hasText: 'Watches, cheap' }).click();
    await page.keyboard.press('h');
    await drawer.getByText('Membership: enabled').waitFor();
    await disableByKeys();
    await checkAppearance(t, page, 'moderation-disable');
    await dialog.getByRole('button', { name: 'Disable membership' }).press('Enter');
    await untilToast(page, /^Disabled/);
    await drawer.getByText('Membership: disabled until').waitFor();
    await checkAppearance(t, page, 'moderation-disabled');
    await page.keyboard.press('u');
    await untilToast(page, 'Undone');
    await drawer.getByText('Membership: enabled').waitFor();

    await disableByKeys();
    await dialog.getByLabel('Until a lead lifts it').check();
    await dialog.getByRole('button', { name: 'Disable membership' }).press('Enter');
    await drawer.getByText('until a lead lifts it').waitFor();
    await drawer.getByRole('button', { name: 'Enable membership…' }).click();
    await checkAppearance(t, page, 'moderation-enable');
    await page.keyboard.press('Enter');
    await untilToast(page, /^Enabled/);
    await drawer.getByText('Membership: enabled').waitFor();

    const other = await openConsole(t, service, mo);
    await other.page.locator('.row', { hasText: 'Watches, cheap' }).click();
    await other.page.keyboard.press('h');
    await other.page.locator('.drawer').getByText('Nothing else.').waitFor();
    await untilEqual(t, () => other.page.locator('.drawer .membership').count(), 0);
  },
);
