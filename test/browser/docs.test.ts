import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { axeViolations, NEEDS_BROWSER, visit } from '../support/browser.ts';
import { startService } from '../support/service.ts';

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');

t.test('lists, opens and calls every operation in the reference', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const operations = Object.values(paths).flatMap((item) => Object.keys(item as object));
  // Console messages and requests to other origins fail this test as well.
  const { page } = await visit(t, `${service.baseUrl}/docs`, {
    first: `window.violations = [];
      document.addEventListener('securitypolicyviolation', (event) =>
        window.violations.push(event.violatedDirective + ' ' + event.blockedURI));`,
  });
  const rows = page.locator('.opblock');
  await rows.first().waitFor();
  t.equal(await rows.count(), operations.length, 'every operation has a row');
  const picture = (name: string) => page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  await mkdir(SCREENSHOTS, { recursive: true });
  await picture('docs');

  const open = async (method: string, path: string) => {
    const row = page
      .locator(`.opblock-${method}`)
      .filter({ has: page.locator(`[data-path="${path}"]`) });
    await row.locator('.opblock-summary-control').click();
    await row.getByRole('heading', { name: 'Responses' }).waitFor();
    return row;
  };
  for (const path of ['/api/guestbook', '/api/v1/cases/{case_id}/claim', '/mcp']) {
    const row = await open('post', path);
    await row.scrollIntoViewIfNeeded();
    await picture(`docs-${path.split('/').at(-1)}`);
  }

  const status = await open('get', '/api/v1/status');
  await status.getByRole('button', { name: 'Try it out' }).click();
  await status.getByRole('button', { name: 'Execute' }).click();
  await status.locator('.live-responses-table').getByText('service.status.v1').waitFor();
  const faint = () => axeViolations(page, ['color-contrast']);
  t.strictSame(await faint(), [], 'text is legible in the light scheme');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html.dark-mode').waitFor();
  await picture('docs-dark');
  t.strictSame(await faint(), [], 'text is legible in the dark scheme');
  await page.setViewportSize({ width: 320, height: 640 });
  const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  t.equal(await page.evaluate(beyond), 0, 'wide content scrolls inside its box');
  t.strictSame(
    await page.evaluate('window.violations'),
    [],
    'no violation of the content security policy',
  );
});
