import t from 'tap';
import { NEEDS_BROWSER } from '../harness/browser.ts';
import { startGuestbook, visitGuestbook } from '../harness/guestbook-page.ts';
import { hire } from '../harness/moderation.ts';

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
  t.equal(item.text, 'By hand');
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
