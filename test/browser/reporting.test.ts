import t from 'tap';
import { checkAppearance, NEEDS_BROWSER, visit } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

t.test('reports a note and a record without scripts', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { lead, note, caseId } = await furnishSite(service);
  const { page } = await visit(t, `${service.baseUrl}/notes/${note.id}`, {
    javaScriptEnabled: false,
    expected: /status of 422/,
  });
  await page.getByRole('link', { name: 'Report', exact: true }).click();
  await page.getByRole('heading', { name: 'Report this note' }).waitFor();
  await page.getByLabel('Spam or advertising').check();
  await page.getByRole('textbox', { name: 'Details' }).fill('It sells telescopes.');
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  const [item] = (await lead.get('queue?view=reported')).body.items;
  t.match(item.reports[0], { reason: 'spam', details: 'It sells telescopes.' });

  await page.goto(`${service.baseUrl}/cases/${caseId}`);
  await page.getByRole('link', { name: 'Report this note on a case' }).click();
  await page.getByRole('link', { name: 'Starting with the oldest plates.' }).waitFor();
  await page.getByLabel('Something else').check();
  await page.getByRole('textbox', { name: 'Details' }).fill('Not what it says.');
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByText('Members alone can report this.').waitFor();
  t.equal(await page.getByRole('textbox', { name: 'Details' }).inputValue(), 'Not what it says.');
  t.ok(await page.getByLabel('Something else').isChecked());

  // axe needs scripts, which the pages do not.
  const { page: scripted } = await visit(t, `${service.baseUrl}/report?type=case&id=${caseId}`, {
    expected: /status of 422/,
  });
  await checkAppearance(t, scripted, 'report-case');
  await scripted.getByLabel('Something else').check();
  await scripted.getByRole('button', { name: 'Send report' }).click();
  await scripted.getByText('Members alone can report this.').waitFor();
  await checkAppearance(t, scripted, 'report-refused');
});
