import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('shows more by the author beside the note', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const spam = await submit(service, { name: 'Ravi', message: 'Buy my things' });
  const rejection = { action: 'reject', expected_version: 1, policy: 'spam' };
  t.equal((await ann.post(`notes/${spam.id}/decisions`, rejection)).status, 201);
  const kind = await submit(service, { name: 'Ravi', message: 'A kind word' });
  await decide(ann, kind.id, 'approve');
  await submit(service, { name: 'Ravi', message: 'The current one' });
  await submit(service, { name: 'Ravi', message: 'Also waiting' });
  await submit(service, { name: 'Mia', message: 'By another' });

  const { page } = await openConsole(t, service, ann);
  const text = page.locator('.note .text');
  await text.filter({ hasText: 'The current one' }).waitFor();
  const place = await text.boundingBox();
  await page.keyboard.press('h');
  const drawer = page.getByRole('region', { name: 'More by Ravi' });
  await drawer.locator('li').nth(2).waitFor();
  t.same(await drawer.locator('li > bdi').allTextContents(), [
    'Also waiting',
    'A kind word',
    'Buy my things',
  ]);
  t.match(await drawer.locator('li').nth(2).innerText(), /rejected.*Spam/s);
  t.same(await text.boundingBox(), place, 'the text stays where it is');
  t.equal(await page.locator('.row').count(), 3, 'and so does the queue');
  await checkAppearance(t, page, 'moderation-author');

  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.getByRole('region', { name: 'More by Mia' }).getByText('Nothing else.').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.drawer').waitFor({ state: 'detached' });
  await page.locator('.row.here .row-main:focus').waitFor();

  await page.keyboard.press('k');
  await page.getByRole('button', { name: 'More by this author' }).click();
  await drawer.getByRole('link').nth(2).click();
  await text.filter({ hasText: 'A kind word' }).waitFor();
  t.match(page.url(), `/moderation/items/${kind.id}`);
  await drawer.getByRole('link', { name: 'All decisions' }).click();
  await page.waitForURL('**/moderation/decided?author=Ravi');
  await page.locator('.row', { hasText: 'Buy my things' }).waitFor();
  t.equal(await page.locator('.drawer').count(), 0);
});
