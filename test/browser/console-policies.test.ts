import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import {
  checkAppearance,
  holdRequest,
  NEEDS_BROWSER,
  untilEqual,
  untilHandled,
} from '../support/browser.ts';
import { openConsole, untilToast } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('keeps an unsaved policy on Escape and names missing fields', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const { page } = await openConsole(t, service, lea);
  await page.getByRole('link', { name: 'Policies' }).click();
  await page.getByRole('button', { name: 'New policy' }).click();
  const dialog = page.getByRole('dialog', { name: 'New policy' });
  const invalidFields = async () => {
    await page.keyboard.press('Enter');
    await dialog.locator('[aria-invalid]:focus').waitFor();
    return dialog
      .locator('[aria-invalid]')
      .evaluateAll((all) => all.map((e) => e.getAttribute('name')));
  };
  await dialog.getByLabel('Code').focus();
  t.same(await invalidFields(), ['code', 'title', 'text']);
  await dialog.getByLabel('Code').fill('spam');
  await dialog.getByLabel('Title').fill('Too loud');
  t.same(await invalidFields(), ['code', 'text'], 'a used code is invalid');
  await dialog.getByLabel('Code').fill('too_loud');
  await dialog.getByLabel('Text for the author').fill('Speak softly.');

  const focus = dialog.evaluate(async (element) => {
    element.dispatchEvent(new Event('cancel', { cancelable: true }));
    await Promise.resolve();
    return element.ownerDocument.activeElement.textContent;
  });
  t.equal(await focus, 'Close without saving', 'focused before the next key');
  const leave = dialog.getByRole('button', { name: 'Close without saving' });
  await page.keyboard.press('Escape');
  await leave.and(page.locator(':focus')).waitFor();
  for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
  await untilEqual(t, () => dialog.getByLabel('Title').inputValue(), 'Too loud');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const saved = page.locator('.policy-list li', { hasText: 'Too loud' });
  await saved.getByRole('button', { name: 'Edit' }).click();
  const editor = page.getByRole('dialog');
  await editor.getByLabel('Title').fill('Never mind');
  await editor.getByRole('button', { name: 'Close', exact: true }).click();
  await editor.getByRole('button', { name: 'Close without saving' }).click();
  await editor.waitFor({ state: 'detached' });
  await saved.getByRole('button', { name: 'Edit' }).click();
  await editor.waitFor();
  await page.keyboard.press('Escape');
  await editor.waitFor({ state: 'detached' });
  await untilEqual(t, () => saved.count(), 1, 'an unchanged editor closes without a question');
});

t.test('updates a changed policy where it is chosen', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  await submit(service);
  const { page } = await openConsole(t, service, ann);
  await page.keyboard.press('r');
  const policy = page.locator('.panel').getByRole('button', { name: 'Spam' });
  await policy.waitFor();
  const leas = await openConsole(t, service, lea);
  await leas.page.getByRole('link', { name: 'Policies' }).click();
  await leas.page
    .locator('.policy-list li', { hasText: 'Spam' })
    .getByRole('button', { name: 'Edit' })
    .click();
  await leas.page.getByLabel('In force').uncheck();
  await leas.page.getByRole('button', { name: 'Save' }).click();
  await policy.waitFor({ state: 'detached' });
});

t.test('closes only the editor whose save was answered', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const { page } = await openConsole(t, service, lea);
  await page.getByRole('link', { name: 'Policies' }).click();
  const spam = page.locator('.policy-list li', { hasText: 'Spam' });
  const editor = page.getByRole('dialog');
  await spam.getByRole('button', { name: 'Edit' }).click();
  await editor.getByLabel('Title').fill('Spam and worse');
  const saving = await holdRequest(page, '**/policies', 'answer');
  await editor.getByRole('button', { name: 'Save' }).click();
  await saving.arrived;
  await editor.getByRole('button', { name: 'Close', exact: true }).click();
  await editor.getByRole('button', { name: 'Close without saving' }).click();
  await editor.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New policy' }).click();
  await editor.getByLabel('Title').fill('Half a th');
  const listed = page.waitForResponse((answer) => answer.request().method() === 'GET');
  saving.release();
  await untilHandled(page, listed);
  await spam.locator('h3', { hasText: 'Spam and worse' }).waitFor();
  await untilEqual(t, () => editor.getByLabel('Title').inputValue(), 'Half a th');
});

t.test('inserts a prepared message before a policy rejects', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  await submit(service, { message: 'One' });
  const { id } = await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, lea);
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  // Until a lead prepares others, each of the first six policies has one.
  await page.keyboard.press('m');
  const shipped = page.getByRole('list', { name: 'Prepared messages' }).getByRole('listitem');
  await untilEqual(t, () => shipped.count(), 6);
  await page.keyboard.press('Escape');
  await page.locator('.prepared-list').waitFor({ state: 'detached' });
  await page.keyboard.press('1');
  await untilToast(page, 'Rejected');

  await page.getByRole('link', { name: 'Policies' }).click();
  const policy = page.locator('.policy-list > li', { hasText: 'Off topic' });
  await policy.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Prepared message 1').fill('This page is about the observatory.');
  await page.getByLabel('Prepared message 2').fill('x'.repeat(501));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Shorten it by 1 character.').waitFor();
  await page.getByLabel('Prepared message 2').fill('Write to the archive instead.');
  await page.getByRole('button', { name: 'Save' }).click();
  await policy.getByText('Write to the archive instead.').waitFor();
  await checkAppearance(t, page, 'moderation-policy-messages');

  await page.getByRole('link', { name: /^To do/ }).click();
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  const text = await page.locator('.note .text').boundingBox();
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  await page.keyboard.press('m');
  await page.getByRole('list', { name: 'Prepared messages' }).waitFor();
  t.same(await page.locator('.note .text').boundingBox(), text, 'the text stays where it is');
  await checkAppearance(t, page, 'moderation-prepared');
  await page.keyboard.press('Escape');
  await page.locator('.prepared-list').waitFor({ state: 'detached' });
  await page.keyboard.press('m');
  await page.keyboard.press('2');
  const field = page.getByLabel('Message to the author');
  await untilEqual(t, () => field.inputValue(), 'Write to the archive instead.');
  await page.keyboard.press('5');
  await untilToast(page, 'Rejected: Off topic');
  const { item } = (await lea.get(`notes/${id}`)).body;
  t.match(item.decision, { policy: 'off_topic', message: 'Write to the archive instead.' });
});
