import t from 'tap';
import { addModerator, decide, type Moderator } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER } from '../support/browser.ts';
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

t.test('an abuser is stopped, learns why, appeals and is restored', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const [lea, leo] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Leo', 'lead'),
  ];
  const visit = await visitGuestbook(t, service, { expected: REFUSED });
  const { page } = visit;
  const keys = await join(visit, 'advertiser');
  await sendNote(visit, 'Watches, cheap');
  await decide(lea, (await lea.get('queue')).body.items[0].id, 'reject');
  await disable(lea, keys);

  await page.reload();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  const dialog = page.getByRole('dialog');
  await proveKey(page, { ...keys, sign_in_key: keys.recovery_key ?? '' });
  await dialog.getByText('do not belong together').waitFor();
  t.notMatch(await page.innerText('body'), /disabled|adverts/, 'a stranger learns nothing');
  await dialog.getByRole('button', { name: 'Close' }).click();

  await proveKey(page, keys);
  await page.getByRole('heading', { name: 'Your membership is disabled' }).waitFor();
  await dialog.getByText('Reason: Spam.').waitFor();
  await dialog.getByText(WORDS).waitFor();
  t.notMatch(await dialog.innerText(), 'Lea', 'the moderator is not named');
  await checkAppearance(t, page, 'disabled');
  await dialog.getByRole('button', { name: 'Appeal' }).click();
  await dialog.getByRole('button', { name: 'Send appeal' }).click();
  await dialog.getByText('Say why your membership should be restored.').waitFor();
  const field = dialog.getByLabel('Why should your membership be restored?');
  await field.fill('My brother had my key.');
  await checkAppearance(t, page, 'disabled-appeal');
  await dialog.getByRole('button', { name: 'Send appeal' }).click();
  await dialog.getByText('Your appeal is waiting for a different moderator.').waitFor();
  t.equal(await dialog.getByRole('button', { name: 'Appeal' }).count(), 0, 'once');

  const downloading = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download my data' }).click();
  const data = (await readDownload(await downloading)) as Record<string, unknown>;
  t.match(data.disabling_appeals, [{ text: 'My brother had my key.', state: 'open' }]);

  const own = await lea.post(`members/${keys.id}/enable`, {});
  t.equal(own.body.error.reason, 'second_person_required');
  t.equal((await leo.post(`members/${keys.id}/enable`, {})).status, 201);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await signIn(visit, keys);
  await accountLink(page, 'advertiser').waitFor();
});

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
  await page.getByLabel('I have saved the file').check();
  await page.getByRole('button', { name: 'Replace my keys' }).click();
  await page.getByRole('heading', { name: 'Your membership is disabled' }).waitFor();
  await page.getByText(WORDS).waitFor();
  await page.getByText('Your keys are replaced.').first().waitFor({ state: 'attached' });
});
