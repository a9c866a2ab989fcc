import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { currentText, openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('narrows the audit, and follows its links', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [one, two] = [await submit(service, { message: 'One' }), await submit(service)];
  await decide(ann, one.id, 'approve');
  await bob.post(`notes/${two.id}/decisions`, {
    action: 'reject',
    expected_version: 1,
    policy: 'spam',
  });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = await submit(service);
  await bob.post(`notes/${id}/decisions`, { action: 'defer', expected_version: 1, until });

  const { page } = await openConsole(t, service, ann);
  const at = `${service.baseUrl}/moderation`;
  await page.getByRole('link', { name: 'Audit' }).click();
  const rows = page.locator('.audit tbody tr');
  await rows.filter({ hasText: 'deferred' }).waitFor();
  t.notMatch(await rows.first().innerText(), /Z$/m, 'a time for people');
  await checkAppearance(t, page, 'moderation-audit-filters');
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of ['Moderator', 'Policy', 'Subject']) {
    const field = await page.getByLabel(name, { exact: true }).boundingBox();
    const label = await page
      .locator('.audit-filters')
      .getByText(name, { exact: true })
      .boundingBox();
    t.ok(field && label && label.y >= field.y && label.y < field.y + field.height, name);
  }
  await page.setViewportSize({ width: 1280, height: 900 });

  await page.getByRole('link', { name: 'Bob' }).first().click();
  await rows.nth(2).waitFor({ state: 'detached' });
  await untilEqual(t, () => page.url(), `${at}/audit?moderator=Bob`);
  await page.getByLabel('Policy').selectOption('spam');
  await rows.nth(1).waitFor({ state: 'detached' });
  t.match(await rows.first().innerText(), /Bob\s+rejected/);
  await page.reload();
  await rows.first().waitFor();
  await untilEqual(t, () => page.getByLabel('Moderator').inputValue(), 'Bob');
  await page.getByLabel('Moderator').fill('Unknown');
  await page.keyboard.press('Enter');
  await page.getByText('No entries match the filters.').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rows.nth(3).waitFor();
  await untilEqual(t, () => page.url(), `${at}/audit`);

  await rows.filter({ hasText: 'approved' }).getByRole('link', { name: 'note' }).click();
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await untilEqual(t, () => page.url(), `${at}/items/${one.id}`);
  await page.getByRole('link', { name: 'In the audit' }).click();
  await rows.filter({ hasText: 'approved' }).waitFor();
  await untilEqual(t, () => page.url(), `${at}/audit?subject=${one.id}`);
  await page.goBack();
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await untilEqual(t, () => currentText(page), 'One');
});
