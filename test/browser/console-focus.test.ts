import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { intercept, NEEDS_BROWSER } from '../support/browser.ts';
import {
  CONFLICT_RESPONSE,
  openConsole,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('keeps the focus after each action', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
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
  await untilToast(page, 'Approved “Two”');
  const undo = page.locator('.toast').getByRole('button', { name: 'Undo' });
  await undo.focus();
  await page.clock.fastForward(15_000);
  await undo.and(page.locator(':focus')).waitFor();
  await press('Dismiss');
  await focused('.row.here .row-main');
  await page.keyboard.press('a');
  await untilToast(page, /^Approved/);
  await page.clock.fastForward(15_000);
  await page.locator('.toast').waitFor({ state: 'detached' });

  await press(/^More by this author/);
  await page.getByRole('link', { name: 'All decisions' }).click();
  await focused('#list-title');
  await page.locator('.row', { hasText: 'Before' }).waitFor();
  await press('Clear filters');
  await focused('#list-title');
  await page.locator('.row').nth(2).waitFor();
  // Not a read of the list before, which may be read once more at this moment.
  const otherList = /\/queue\?(?!.*\bonly=)(?!.*\bview=decided)/;
  await intercept(page, otherList, (route) => route.fulfill(CONFLICT_RESPONSE), { times: 1 });
  await page.getByRole('link', { name: /^To do/ }).click();
  await press('Try again');
  await focused('#list-title');
  await page.locator('.row').waitFor();
  t.pass('to the present row, or to the title of the list');
});

t.test('focuses a field before the next key', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['One', 'Two']);
  await page.locator('.row').nth(1).waitFor();
  // In one task: a letter typed after the key would be a command.
  const afterKey = (key: string) =>
    page.evaluate(`(async () => {
      document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }));
      await null;
      return document.activeElement.id;
    })()`);
  t.equal(await afterKey('/'), 'search');
  await page.locator('#search').fill('Two');
  await page.keyboard.press('Enter');
  await page.locator('.row').nth(1).waitFor({ state: 'detached' });
  const words = page.getByRole('button', { name: 'Clear filters' }).evaluate(async (button) => {
    button.click();
    await Promise.resolve();
    return button.ownerDocument.getElementById('search').value;
  });
  t.equal(await words, '', 'the search is cleared before the next key');
  await page.locator('.row').nth(1).waitFor();
  t.equal(await afterKey('t'), 'thread');
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('button', { name: 'List' }).waitFor();
  t.equal(await afterKey('/'), 'search', 'also from a note that hides the list');
});
