import t from 'tap';
import { intercept, NEEDS_BROWSER } from '../harness/browser.ts';
import { openConsole, REFUSED, toast } from '../harness/console.ts';
import { decide, hire, submit } from '../harness/moderation.ts';
import { startService } from '../harness/service.ts';

t.test('the focus is not lost with what was pressed', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  await decide(ann, (await submit(service, { message: 'Before' })).id, 'approve');
  for (const message of ['One', 'Two', 'Three']) await submit(service, { message });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(2).waitFor();
  const focused = (what: string) => page.locator(`${what}:focus`).waitFor();
  const press = async (name: string | RegExp) => {
    await page.getByRole('button', { name }).focus();
    await page.keyboard.press('Enter');
  };
  await focused('#list-title');
  t.pass('after signing in');
  await page.keyboard.press('j');
  await focused('.row.here .row-main');
  await press(/^Claim$/);
  await page.locator('.note .lease').waitFor();
  await press(/^Release/);
  await focused('.row.here .row-main');
  await page.keyboard.press('x');
  await press('Clear');
  await focused('.row.here .row-main');

  await page.clock.install();
  await page.keyboard.press('a');
  await toast(page, 'Approved “Two”');
  const undo = page.locator('.toast').getByRole('button', { name: 'Undo' });
  await undo.focus();
  await page.clock.fastForward(15_000);
  await undo.and(page.locator(':focus')).waitFor();
  await press('Dismiss');
  await focused('.row.here .row-main');
  await page.keyboard.press('a');
  await toast(page, /^Approved/);
  await page.clock.fastForward(15_000);
  await page.locator('.toast').waitFor({ state: 'detached' });

  await press(/^Decided before/);
  await focused('#list-title');
  await page.locator('.row', { hasText: 'Before' }).waitFor();
  await press('Show all');
  await focused('#list-title');
  await page.locator('.row').nth(2).waitFor();
  await intercept(page, '**/api/moderation/queue?**', (route) => route.fulfill(REFUSED), {
    times: 1,
  });
  await page.getByRole('link', { name: /^To do/ }).click();
  await press('Try again');
  await focused('#list-title');
  await page.locator('.row').waitFor();
  t.pass('to the present row, or to the title of the list');
});
