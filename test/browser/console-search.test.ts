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

t.test('searches while the moderator types, and keeps the field', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['The sun', 'The moon', 'A moonbeam']);
  await page.locator('.row').nth(2).waitFor();
  const field = page.locator('#search');
  t.ok(((await field.boundingBox())?.width ?? 0) > 300, 'the field has a line to itself');
  await field.click();
  await page.keyboard.type('moon');
  await page.locator('.row').nth(2).waitFor({ state: 'detached' });
  await untilEqual(t, () => page.locator('.row mark').count(), 2);
  await page.keyboard.type('beam ');
  await untilEqual(t, () => page.locator('.row mark').allTextContents(), ['moonbeam']);
  await page.locator('#search:focus').waitFor();
  t.equal(await field.inputValue(), 'moonbeam ', 'with the space that is being typed');
  await page.goBack();
  await page.locator('.row').nth(2).waitFor();
  t.equal(await field.inputValue(), '', 'one entry of the history for the whole text');
});

t.test(
  'searches on Escape, which keeps the text and leaves the field',
  NEEDS_BROWSER,
  async (t) => {
    const { page } = await openConsoleWithNotes(t, ['The sun', 'The moon', 'A moonbeam']);
    await page.locator('.row').nth(2).waitFor();
    const field = page.locator('#search');
    await page.keyboard.press('/');
    await page.locator('#search:focus').waitFor();
    await page.keyboard.type('moon');
    await field.press('Escape');
    t.match(page.url(), /[?&]q=moon$/, 'no pause passes before the search');
    t.equal(await field.inputValue(), 'moon');
    await page.getByText('2 of 3 found.').first().waitFor();
    await page.locator('.row.here', { hasText: 'The moon' }).waitFor();
    await page.keyboard.press('e');
    await page.locator('.panel textarea:focus').waitFor();
    t.equal(await field.inputValue(), 'moon');
    t.match(page.url(), /[?&]q=moon$/);
  },
);
