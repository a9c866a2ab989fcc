import t from 'tap';
import { look, NEEDS_BROWSER, openBrowser, visit } from '../harness/browser.ts';
import { startService } from '../harness/service.ts';

t.test('the guestbook shows itself, empty', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const browser = await openBrowser(t);
  const { page } = await visit(t, browser, service.baseUrl);
  await page.getByText('Notes are reviewed before they appear').waitFor();
  await look(t, page, 'guestbook-empty');
});
