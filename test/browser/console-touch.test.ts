import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual, visit } from '../support/browser.ts';
import { openConsole, openConsoleWithNotes, signIn } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('shows no hints at keys on a phone', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'One' });
  const { page } = await visit(t, `${service.baseUrl}/moderation`, {
    expected: /status of 401/,
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  await signIn(page, ann);
  await page.locator('.row-main').waitFor();
  await untilEqual(t, () => page.locator('#search').getAttribute('placeholder'), 'Search');
  for (const hidden of ['kbd', '.top .keys', '.key-help'])
    for (const hint of await page.locator(hidden).all()) t.notOk(await hint.isVisible(), hidden);
  t.ok(((await page.locator('.top').boundingBox())?.height ?? 99) <= 50, 'one line');
  await page.locator('.row-main').click();
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.locator('.panel').waitFor();
  t.notMatch(await page.locator('.panel').innerText(), /Press|Esc/);
});

t.test('folds a long note until the reader wants all of it', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, [
    Array.from({ length: 100 }, (_, line) => `L${line}`).join('\n'),
    'Short',
  ]);
  const text = page.locator('.note .text');
  const all = page.getByRole('button', { name: 'Show all' });
  await all.waitFor();
  const height = async () => (await text.boundingBox())?.height ?? 0;
  const folded = await height();
  t.ok(folded < 600, `${folded} px`);
  await checkAppearance(t, page, 'moderation-folded');
  await all.click();
  t.ok((await height()) > 2000);
  await page.getByRole('button', { name: 'Show less' }).click();
  await untilEqual(t, () => height(), folded);
  await page.keyboard.press('j');
  await text.filter({ hasText: 'Short' }).waitFor();
  t.equal(await page.locator('.unfold').count(), 0);
});

t.test('offers an auditor nothing to select', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  await submit(service);
  const { page } = await openConsole(t, service, await addModerator(service, 'Ada', 'auditor'));
  await page.locator('.row-main').waitFor();
  t.equal(await page.locator('.row input').count(), 0);
  await page.keyboard.press('x');
  t.equal(await page.locator('.selection').count(), 0);
});
