import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { intercept, NEEDS_BROWSER, untilEqual, visit } from '../support/browser.ts';
import {
  CONFLICT_RESPONSE,
  openConsole,
  openConsoleWithNotes,
  signIn,
  untilToast,
} from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('shows a fault exactly as long as it lasts', NEEDS_BROWSER, async (t) => {
  const { service, ann, page, context } = await openConsoleWithNotes(t, ['Hello']);
  const fault = page.locator('.list [role=alert]');
  await context.setOffline(true);
  await page.getByRole('link', { name: /^Mine/ }).click();
  await page.getByRole('link', { name: /^To do/ }).click();
  await fault.waitFor();
  await context.setOffline(false);
  await page.locator('.row').waitFor();
  await untilEqual(t, () => fault.count(), 0);
  await page.locator('.stream.live').waitFor();

  await intercept(page, '**/api/moderation/queue?**', (route) => route.fulfill(CONFLICT_RESPONSE));
  await page.getByRole('link', { name: /^Mine/ }).click();
  await fault.waitFor();
  await service.database.pool.query('DELETE FROM moderator_sessions');
  await page.locator('[href="/moderation/audit"]').dispatchEvent('click');
  const signInErrors = page.locator('.sign-in [role=alert], .sign-in [aria-invalid]');
  await page.getByRole('dialog').waitFor();
  t.equal(await signInErrors.count(), 0, 'the sign-in shows no error yet');
  await signIn(page, ann);
  await page.getByRole('link', { name: /^Mine/ }).click();
  await fault.waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Moderation', exact: true }).waitFor();
  t.equal(await signInErrors.count(), 0);
});

t.test('shows the whole queue to the next moderator', NEEDS_BROWSER, async (t) => {
  const { service, ann, page } = await openConsoleWithNotes(t, ['One']);
  const bob = await addModerator(service, 'Bob');
  const search = async () => {
    await page.locator('#search').fill('needle');
    await page.keyboard.press('Enter');
    await page.getByText('No matches.').waitFor();
  };
  const end = async () => {
    await service.database.pool.query('DELETE FROM moderator_sessions');
    await page.locator('#search').press('Enter');
    await page.getByRole('dialog').waitFor();
  };
  await page.locator('.row').waitFor();
  await page.keyboard.press('r');
  const word = page.getByLabel('Message to the author');
  await word.fill('Of Ann');
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await word.press('Escape');
  const released = page.waitForResponse('**/claims/release');
  await page.keyboard.press('Escape');
  await released;
  await search();
  await end();
  await signIn(page, ann);
  await untilEqual(
    t,
    () => page.locator('#search').inputValue(),
    'needle',
    'the same moderator keeps the search',
  );
  await end();
  await signIn(page, bob);
  await page.locator('.row', { hasText: 'One' }).locator('.row-main').click();
  await page.keyboard.press('r');
  t.equal(await word.inputValue(), '', "the previous moderator's message is gone");
  await page.keyboard.press('Escape');
  await search();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, ann);
  await page.locator('.row', { hasText: 'One' }).waitFor();
  await untilEqual(t, () => page.locator('#search').inputValue(), '');
});

t.test('reconnects a silent stream, and only a silent one', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const url = `${service.baseUrl}/moderation`;
  const { page } = await visit(t, url, { expected: /status of 401/ });
  await page.clock.install();
  await signIn(page, ann);
  const live = page.locator('.stream.live');
  await live.waitFor();
  await page.locator('.empty').waitFor();
  await page.clock.fastForward(22_000);
  // The list that is read when the stream begins may have the first note; only the stream tells of the second.
  for (const [at, message] of ['One', 'Two'].entries()) {
    await submit(service, { message });
    await page.locator('.row').nth(at).waitFor();
  }
  await page.clock.fastForward(22_000);
  await page.evaluate("fetch('/livez')");
  t.equal(await live.count(), 1);
  const again = page.waitForResponse('**/api/moderation/stream');
  await page.clock.fastForward(41_000);
  await again;
  await live.waitFor();
});

t.test('works without browser storage', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'One' });
  const { page } = await openConsole(t, service, ann, {
    first: `Object.defineProperty(window, 'localStorage', {
      get() { throw new DOMException('No.', 'SecurityError'); } });`,
  });
  const keys = page.getByLabel('Shortcuts', { exact: true });
  t.equal(await keys.isChecked(), true);
  await keys.uncheck();
  await page.locator('.row-main').press('a');
  await keys.check();
  await page.locator('.row-main').press('a');
  await untilToast(page, 'Approved “One”');
});
