import type { Locator } from 'playwright-core';
import t from 'tap';
import { readCookie } from '../../harness/api.ts';
import { addModerator, decide, submitAs } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  accountLink,
  join,
  sendNote,
  signIn,
  signOut,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';

t.test("shows a member's notes on a second device, where they appeal", NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const first = await visitGuestbook(t, service);
  const keys = await join(first, 'ada_l');
  await sendNote(first, 'My engine, cheap');
  await sendNote(first, 'A second thought');
  const { items } = (await ann.get('queue')).body;
  const advert = items.find(({ text }: { text: string }) => text === 'My engine, cheap');
  const rejection = { action: 'reject', policy: 'spam', message: 'Please do not sell here.' };
  const path = `notes/${advert.id}/decisions`;
  t.equal((await ann.post(path, { ...rejection, expected_version: advert.version })).status, 201);

  const second = await visitGuestbook(t, service);
  const { page } = second;
  t.equal(await page.locator('.own-note').count(), 0);
  await signIn(second, keys);
  const rejected = page.locator('.own-note', { hasText: 'My engine, cheap' });
  await rejected.getByText('Please do not sell here.').waitFor();
  await rejected.getByText('Not published under Spam: Advertising, repeated').waitFor();
  const progressOf = (note: Locator) => note.getByRole('list', { name: 'Progress' });
  await untilEqual(t, () => progressOf(rejected).locator('.done').allInnerTexts(), [
    'Sent',
    'Read by a moderator',
    'Not public',
  ]);
  const policy = rejected.getByRole('link', { name: 'Spam' });
  t.equal(await policy.getAttribute('href'), '/about#policy-spam');
  await rejected.getByRole('button', { name: 'Appeal' }).click();
  await rejected.getByLabel('Why should this note appear?').fill('It was a joke.');
  await rejected.getByRole('button', { name: 'Send appeal' }).click();
  await rejected.getByText('Your appeal is waiting').waitFor();
  const uncorrected = page.locator('.own-note', { hasText: 'A second thought' });
  await untilEqual(t, () => progressOf(uncorrected).locator('.done').allInnerTexts(), ['Sent']);
  await untilEqual(t, () => progressOf(uncorrected).locator('[aria-current]').innerText(), 'Sent');
  await uncorrected.getByRole('button', { name: 'Correct' }).click();
  await uncorrected.getByLabel('Your note').fill('A third thought');
  await checkAppearance(t, page, 'own-notes-correction');
  await uncorrected.getByRole('button', { name: 'Save' }).click();
  const waiting = page.locator('.own-note', { hasText: 'A third thought' });
  await waiting.waitFor();
  await waiting.getByRole('button', { name: 'Correct', expanded: false }).waitFor();
  await waiting.getByRole('button', { name: 'Withdraw' }).click();
  await waiting.getByRole('button', { name: 'Withdraw it' }).click();
  await waiting.getByText('Withdrawn by you').waitFor();
  t.equal(await progressOf(waiting).count(), 0);
  await checkAppearance(t, page, 'own-notes');

  await first.page.reload();
  await first.page.getByText('Your appeal is waiting').waitFor();
  await first.page.getByText('Withdrawn by you').waitFor();
  t.equal((await ann.get('queue?view=appeals')).body.items.length, 1);

  await signOut(page, 'ada_l');
  t.equal(await page.locator('.own-note').count(), 0, 'nothing stays in this browser');
  t.notMatch(await page.evaluate('JSON.stringify(localStorage)'), /engine|thought/);
});

t.test(
  'shows the newest notes beside a guestbook, and all of them on one page',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1000' });
    const visit = await visitGuestbook(t, service);
    const { page } = visit;
    const { id = '', handle = '', sign_in_key = '' } = await join(visit, 'prolific');
    const body = { id, sign_in_key };
    const cookie = readCookie(await service.call('POST', '/api/membership/login', { body }));
    const member = { handle, cookie };
    for (let number = 1; number <= 22; number++) {
      const message = `Note number ${number}`;
      await submitAs(service, member, { message });
    }
    await page.getByRole('button', { name: 'Write a note…' }).waitFor();
    await page.reload();
    await page.locator('.own-note').nth(4).waitFor();
    await untilEqual(t, () => page.locator('.own-note').count(), 5);
    await page.getByRole('link', { name: 'All your notes' }).click();
    await accountLink(page, 'prolific').waitFor();
    await page.locator('.own-note').nth(19).waitFor();
    await untilEqual(t, () => page.locator('.own-note').count(), 20);
    await page.getByRole('button', { name: 'Show older notes' }).click();
    await page.locator('.own-note').nth(21).waitFor();
    await untilEqual(t, () => page.getByRole('button', { name: 'Show older notes' }).count(), 0);
    await untilEqual(
      t,
      () => page.locator('.own-note .message').allInnerTexts(),
      Array.from({ length: 22 }, (_, before) => `Note number ${22 - before}`),
    );
  },
);

t.test('takes a withdrawn note out of the list below', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await join(visit, 'ada_l');
  await sendNote(visit, 'To take back');
  await decide(ann, (await ann.get('queue')).body.items[0].id, 'approve');
  await page.reload();
  const listed = page.getByRole('article').filter({ hasText: 'To take back' });
  await listed.waitFor();
  const own = page.locator('.own-note', { hasText: 'To take back' });
  await own.getByRole('button', { name: 'Withdraw' }).click();
  await own.getByRole('button', { name: 'Withdraw it' }).click();
  await own.getByText('Withdrawn by you').waitFor();
  await listed.waitFor({ state: 'detached' });
});
