import t from 'tap';
import { addModerator, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole, untilToast } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('saves filters as a view with a count and a key', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const ada = await signedIn(service);
  for (const message of ['First star', 'Second star'])
    await submit(service, { message, experience: 'observatory' });
  await submit(service, { message: 'A guest at the desk' });
  await submitAs(service, ada, { message: 'A member at the desk' });
  const { page } = await openConsole(t, service, ann);
  const rows = () => page.locator('.row .excerpt').allTextContents();
  await page.getByText('More filters').click();
  await checkAppearance(t, page, 'console-filters');
  await page.getByLabel('Guestbook').selectOption('observatory');
  await untilEqual(t, rows, ['First star', 'Second star']);
  await page.getByLabel('Order').selectOption('newest');
  await untilEqual(t, rows, ['Second star', 'First star']);
  t.match(page.url(), /experience=observatory&sort=newest/);

  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Stars');
  await page.getByLabel('Shared with all moderators').focus();
  await page.keyboard.press('a');
  await checkAppearance(t, page, 'console-save-view');
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await untilToast(page, 'View saved');
  const saved = page
    .getByRole('navigation', { name: 'Views' })
    .getByRole('link', { name: 'Stars' });
  await saved.getByText('2').waitFor();
  t.equal(await saved.getAttribute('aria-current'), 'page');
  t.same(await rows(), ['Second star', 'First star'], 'no key of the dialog has decided');

  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await untilEqual(t, async () => (await rows()).length, 4);
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Appeals', level: 2 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('1');
  await untilEqual(t, rows, ['Second star', 'First star']);
  await checkAppearance(t, page, 'console-saved-view');

  const other = await openConsole(t, service, bob);
  await other.page.getByRole('link', { name: 'Stars' }).click();
  await untilEqual(t, () => other.page.locator('.row .excerpt').allTextContents(), await rows());
  t.equal(await other.page.getByRole('button', { name: 'Delete this view' }).count(), 0);

  await page.getByRole('button', { name: 'Delete this view' }).click();
  await untilToast(page, 'View deleted');
  await saved.waitFor({ state: 'detached' });
});

t.test('filters by what is known of the author and the text', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const ada = await signedIn(service);
  await submit(service, { message: 'Hello from a guest' });
  await submitAs(service, ada, { message: 'Привет от участника' });
  const { page } = await openConsole(t, service, ann);
  const rows = () => page.locator('.row .excerpt').allTextContents();
  await page.getByText('More filters').click();
  await page.getByRole('combobox', { name: 'Author', exact: true }).selectOption('guest');
  await untilEqual(t, rows, ['Hello from a guest']);
  await page.getByRole('combobox', { name: 'Author', exact: true }).selectOption('new');
  await untilEqual(t, rows, ['Привет от участника']);
  await page.getByLabel('Language').selectOption('latin');
  await page.locator('.empty').waitFor();
  await page.getByLabel('Language').selectOption('cyrillic');
  await untilEqual(t, rows, ['Привет от участника']);
});
