import t from 'tap';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsoleWithNotes } from '../support/console.ts';

t.test('shows what a search has found, and how many', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, [
    `${'Long before it. '.repeat(20)}Then MONEY comes up.`,
    'Nothing of the kind',
    'money again, and more money',
  ]);
  t.equal(await page.locator('mark').count(), 0);
  await page.locator('#search').fill('money');
  await page.keyboard.press('Enter');
  await page.locator('.row').nth(2).waitFor({ state: 'detached' });
  await page.getByText('2 of 3 found.').first().waitFor();
  await page.locator('[role=status]', { hasText: '2 of 3 found.' }).waitFor();
  const excerpt = page.locator('.row').first().locator('.excerpt');
  t.match(await excerpt.textContent(), /^….*Then MONEY comes up\.$/);
  await untilEqual(t, () => page.locator('.row mark').allTextContents(), [
    'MONEY',
    'money',
    'money',
  ]);
  await untilEqual(t, () => page.locator('.note .text mark').allTextContents(), ['MONEY']);
  await checkAppearance(t, page, 'moderation-search');
  await page.keyboard.press('j');
  await page.locator('.note .text mark').nth(1).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.locator('.row').nth(2).waitFor();
  t.equal(await page.locator('mark').count(), 0);
});
