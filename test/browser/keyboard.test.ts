import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { focusAfterClick, NEEDS_BROWSER, untilEqual, untilTrue } from '../support/browser.ts';
import {
  accountLink,
  join,
  sendNote,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';

t.test('works by keyboard alone', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const { page } = await visitGuestbook(t, service);
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
  await untilTrue(page, 'document.activeElement.innerText === "Skip to the content"');
  await untilEqual(t, () => page.getByText('Skip to the content').isVisible(), true);
  await press('Enter');
  await untilTrue(page, 'document.activeElement.id === "content"');
  await tabTo('Write a note…');
  await press('Enter');
  await untilTrue(page, 'document.activeElement.name === "message"');
  await page.keyboard.type('By hand');
  await press('Control+Enter');
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  const [item] = (await ann.get('queue')).body.items;
  t.equal(item.text, 'By hand');
  await untilTrue(page, 'document.activeElement.innerText === "Write a note…"');

  await page.reload();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await tabTo('Join');
  await press('Enter');
  await untilTrue(page, 'document.activeElement.closest("dialog") !== null');
  await tabTo('Close');
  await press('Escape');
  await untilTrue(page, 'document.activeElement.innerText === "Join"');
  await press('Enter');
  while ((await page.evaluate('document.activeElement.name')) !== 'handle') await press('Tab');
  await page.keyboard.type('by_keys');
  await press('Enter');
  await page.getByText('These keys are your account').waitFor();
  while ((await page.evaluate('document.activeElement.type')) !== 'checkbox') await press('Tab');
  await press('Space', 'Enter');
  await accountLink(page, 'by_keys').waitFor();
  const focused = (name: string) =>
    untilTrue(page, `document.activeElement.textContent === "${name}"`);
  // The link that replaced "Join" has the focus, and leads to the page with "Sign out".
  await focused('Your account, by_keys');
  await press('Enter');
  // The buttons between are there, and no read of the page comes after the end of the session.
  await page.getByText('This session').waitFor();
  await tabTo('Delete my account');
  await press('Enter');
  await untilTrue(page, 'document.activeElement.closest("dialog") !== null');
  await press('Escape');
  await focused('Delete my account');
  await press('Shift+Tab', 'Shift+Tab');
  await focused('Sign out');
  await press('Enter');
  await page.getByRole('banner').getByRole('button', { name: 'Join' }).waitFor();
  await focused('Sign in');
});

t.test('keeps the focus after each action', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await join(visit, 'by_keys');
  await sendNote(visit, 'To be taken back');
  const focused = (what: string) => page.locator(`${what}:focus`).waitFor();
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
  };
  await press('Withdraw');
  await page.getByText('Withdraw this note?').waitFor();
  await focused('button:text-is("Withdraw")');
  t.equal(await page.evaluate('document.activeElement.ariaExpanded'), 'true');
  await press('Keep it');
  await focused('button:text-is("Withdraw")');
  await press('Withdraw');
  await press('Withdraw it');
  await page.getByText('Withdrawn by you').waitFor();
  await focused('.own-note');
  t.pass('to the note that has lost its button');
});

t.test('keeps the focus after a note left the list', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await sendNote(visit, 'To be forgotten here');
  const forget = page.getByRole('button', { name: 'Forget on this device' });
  t.equal(
    await forget.evaluate(
      (e) => e.ownerDocument.getElementById(e.getAttribute('aria-describedby') ?? '')?.innerText,
    ),
    'To be forgotten here',
  );
  await forget.focus();
  await page.keyboard.press('Enter');
  await page.locator('#content:focus').waitFor();
  t.pass('to the beginning of what is left');
});

t.test('moves the focus only to what was requested', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service);
  await decide(ann, id, 'approve');
  const { page } = await visitGuestbook(t, service);
  const focused = (what: string) => page.locator(`${what}:focus`).waitFor();
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
  };
  await press('Report');
  await focused('[name="reason"][value="spam"]');
  await page.keyboard.press('Escape');
  await focused('button:text-is("Report")');

  await press('Write a note…');
  await focused('[name="message"]');
  await press('Cancel');
  await focused('button:text-is("Write a note…")');
  const name = await focusAfterClick(page.getByRole('button', { name: 'Write a note…' }));
  t.equal(name, 'message', 'before the next key comes');

  await page.getByRole('link', { name: 'Reply', exact: true }).click();
  await page.waitForURL(`**/notes/${id}#reply`);
  await focused('[name="message"]');
  await press('Cancel');
  await focused('button:text-is("Write a reply…")');
});

t.test('tells screen readers how long a text is and may be', NEEDS_BROWSER, async (t) => {
  const { page } = await visitGuestbook(t, await startGuestbook(t));
  await page.getByRole('button', { name: 'Write a note…' }).click();
  const field = page.getByLabel('Your note', { exact: true });
  await field.fill('Hello');
  const described = await field.getAttribute('aria-describedby');
  const count = await page.locator(`[id="${described?.split(' ').at(-1)}"]`).textContent();
  t.equal(count, '5 / 500 of at most 500 characters');
});
