import t from 'tap';
import { NEEDS_BROWSER, visit } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';
import { startService } from '../support/service.ts';

const NOTICE = 'Test only, emptied daily at 04:00 UTC';
const PAGES = ['/', '/members', '/me', '/docs/cases', '/moderation', '/no-such-page'];

t.test('says on one line above each page that it is a sandbox', NEEDS_BROWSER, async (t) => {
  const database = await testDatabase(t);
  await database.pool.query('INSERT INTO sandbox DEFAULT VALUES');
  const service = await startService(t, { SANDBOX: 'true' }, database);
  const { page } = await visit(t, service.baseUrl, {
    viewport: { width: 360, height: 640 },
    expected: /status of 40[14]/,
  });
  for (const path of PAGES) {
    await page.goto(service.baseUrl + path);
    const notice = page.getByRole('complementary', { name: 'Sandbox' });
    t.equal((await notice.textContent())?.trim(), NOTICE, path);
    const box = await notice.boundingBox();
    t.match(box, { x: 0, y: 0, width: 360 }, path);
    t.ok(box && box.height < 32, `${path}: one line`);
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      0,
      `${path} is not wider than the window`,
    );
  }
  await page.goto(`${service.baseUrl}/moderation`);
  await page.getByLabel('Token').waitFor();
  const below = "document.querySelector('.gate').getBoundingClientRect().bottom - innerHeight";
  t.equal(await page.evaluate(below), 0, 'the console leaves room for it');
  await page.goto(service.baseUrl);
  await page.emulateMedia({ media: 'print' });
  t.equal(await page.getByText(NOTICE).isVisible(), true, 'printed too');
});
