import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { NEEDS_BROWSER, untilEqual, visit } from '../support/browser.ts';
import { currentText, openConsole, signIn, untilToast } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('opens a view with its filters, and a note, by address', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'Waiting for rain' });
  await submit(service, { message: 'Waiting for sun' });
  const old = await submit(service, { message: 'Decided long ago' });
  await decide(ann, old.id, 'approve');

  const at = `${service.baseUrl}/moderation`;
  const { page } = await visit(t, `${at}/items/${old.id}`, {
    expected: /status of (401|404)/,
  });
  await signIn(page, ann);
  await page.locator('.note .text', { hasText: 'Decided long ago' }).waitFor();
  await page.locator('.row').nth(1).waitFor();
  await untilEqual(t, () => page.locator('.row').count(), 2, 'the list need not contain the item');
  await untilEqual(t, () => page.url(), `${at}/items/${old.id}`);
  await untilEqual(t, () => page.title(), '(2) Note by Ada · Moderation');

  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: 'Waiting for rain' }).waitFor();
  await untilEqual(t, () => page.url(), at, 'another item is not that of the address');
  await untilEqual(t, () => page.title(), '(2) To do · Moderation');
  await page.goBack();
  await page.locator('.note .text', { hasText: 'Decided long ago' }).waitFor();
  await page.goForward();
  await page.locator('.note .text', { hasText: 'Waiting for rain' }).waitFor();

  await page.locator('#search').fill('sun');
  await page.keyboard.press('Enter');
  await page.locator('.note .text', { hasText: 'Waiting for sun' }).waitFor();
  await untilEqual(t, () => page.url(), `${at}?q=sun`);
  await page.reload();
  await page.locator('.note .text', { hasText: 'Waiting for sun' }).waitFor();
  await untilEqual(t, () => page.locator('#search').inputValue(), 'sun');
  await untilEqual(t, () => page.locator('.row').count(), 1);
  await page.getByRole('link', { name: 'Decided' }).click();
  await page.locator('.note .text', { hasText: 'Decided long ago' }).waitFor();
  await untilEqual(t, () => page.url(), `${at}/decided`);
  await page.goBack();
  await page.locator('.note .text', { hasText: 'Waiting for sun' }).waitFor();

  await page.locator('.note-head a').click();
  await page.waitForURL('**/moderation/items/*');
  t.pass('a note says its own address');
  await page.goto(`${at}/items/00000000-0000-4000-8000-000000000000`);
  await untilToast(page, 'does not exist');
  await untilEqual(t, () => currentText(page), 'Waiting for rain');
});

t.test('decides the note of an address, and goes on with the list', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'First' });
  const second = await submit(service, { message: 'Second' });
  const { page } = await openConsole(t, service, ann);
  await page.goto(`${service.baseUrl}/moderation/items/${second.id}`);
  await page.locator('.note .text', { hasText: 'Second' }).waitFor();
  await page.locator('.row').nth(1).waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Approved');
  await untilEqual(t, () => currentText(page), 'First');
  await page.keyboard.press('u');
  await untilToast(page, 'Undone');
});

t.test('leaves no filter of another moderator in the address', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { page } = await openConsole(t, service, ann);
  await page.locator('#search').fill('secret');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/moderation?q=secret');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await untilEqual(t, () => page.url(), `${service.baseUrl}/moderation`);
});

t.test(
  'opens the note of an address on a phone, and leads to the list',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    await submit(service, { message: 'First' });
    const second = await submit(service, { message: 'Second' });
    const { page } = await visit(t, `${service.baseUrl}/moderation/items/${second.id}`, {
      expected: /status of 401/,
      viewport: { width: 360, height: 740 },
    });
    await signIn(page, ann);
    await page.locator('.note .text', { hasText: 'Second' }).waitFor();
    t.notOk(await page.locator('.list').isVisible());
    await page.getByRole('button', { name: 'List' }).click();
    await page.locator('.row', { hasText: 'First' }).locator('.row-main').click();
    await page.locator('.note .text', { hasText: 'First' }).waitFor();
    await untilEqual(t, () => page.url(), `${service.baseUrl}/moderation`);
    await page.goBack();
    await page.locator('.row').nth(1).waitFor();
    t.ok(await page.locator('.list').isVisible(), 'back to the list');
  },
);
