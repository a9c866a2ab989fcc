import t from 'tap';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { checkAppearance, NEEDS_BROWSER, visit } from '../support/browser.ts';
import { hostileTexts } from '../support/hostile-texts.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

t.test(
  'is accessible and fits on every page, in every size and colour',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const { ada, packets, caseId, note } = await furnishSite(service);
    const { page } = await visit(t, `${service.baseUrl}/members`, {
      expected: /status of 404/,
    });
    const pages: Record<string, string> = {
      members: '/members',
      member: `/members/${ada.handle}`,
      cases: '/cases',
      case: `/cases/${caseId}`,
      packets: '/packets',
      'packet-brief': `/packets/${packets.first}`,
      'packet-handoff': `/packets/${packets.work}`,
      activity: '/activity',
      search: '/search?q=telescope',
      write: '/write',
      sent: `/notes/${note.id}/sent`,
      about: '/about',
      'for-agents': '/for-agents',
      'not-found': '/nothing/here',
    };
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(service.baseUrl + path);
      await checkAppearance(t, page, `site-${name}`);
      t.equal(await page.locator('h1').count(), 1, `${name} has one title`);
    }
  },
);

t.test(
  'leads from a shared link to everything around it and back, without scripts',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const { ada, caseId } = await furnishSite(service);
    const { page } = await visit(t, `${service.baseUrl}/cases/${caseId}`, {
      javaScriptEnabled: false,
    });
    await page.getByRole('link', { name: ada.handle }).first().click();
    await page.getByRole('heading', { name: 'Ada of the observatory' }).waitFor();
    await page.getByRole('link', { name: 'What was seen' }).click();
    await page.getByRole('heading', { name: 'What was seen' }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'Find the second moon' }).waitFor();
    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByLabel('Words').fill('telescope');
    await page.getByRole('combobox', { name: 'In' }).selectOption('packets');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Where the telescope points now' }).waitFor();
    t.equal(new URL(page.url()).search, '?q=telescope&type=artifact');
  },
);

t.test('shows hostile texts as text', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { ada } = await furnishSite(service);
  const author = createCaseCommands(ada);
  const texts = hostileTexts(160);
  t.ok(texts.length > 400, `${texts.length} texts`);
  const { page } = await visit(t, `${service.baseUrl}/cases`);
  for (let from = 0; from < texts.length; from += 50) {
    const criteria = texts.slice(from, from + 50);
    const [title = ''] = criteria;
    const id = await createOpenCase(author, {
      title,
      summary: title,
      acceptance_criteria: criteria,
    });
    await page.goto(`${service.baseUrl}/cases/${id}`);
    t.equal(await page.locator('.criteria > li').count(), criteria.length);
    t.equal(
      await page.locator('main').locator('script, img, iframe, object, svg, style, form').count(),
      0,
      'no text became an element',
    );
    const shown = await page.locator('.criteria > li').allTextContents();
    t.same(
      criteria.filter((text, index) => !sameVisibly(shown[index], text)),
      [],
    );
  }
  for (const path of ['/cases', '/activity', `/search?q=${encodeURIComponent('"<script>"')}`]) {
    await page.goto(service.baseUrl + path);
    t.equal(await page.locator('script, img, iframe').count(), 0, path);
  }
});

/** Whether a page shows a text, apart from white space and characters that render nothing. */
function sameVisibly(shown = '', text: string): boolean {
  const visible = (value: string) =>
    value.replaceAll(/\s|(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu, '');
  return visible(shown) === visible(text);
}

t.test('prints the texts of a guestbook without its buttons', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  await furnishSite(service);
  const { page } = await visit(t, service.baseUrl);
  const buttons = page.getByRole('button').or(page.getByRole('link', { name: 'Reply' }));
  await page.getByRole('button', { name: 'Report' }).first().waitFor();
  t.ok((await buttons.count()) > 0);
  await page.emulateMedia({ media: 'print' });
  t.equal(await buttons.count(), 0, 'a hidden element has no role');
  t.ok(await page.getByRole('article').first().isVisible());
});

t.test('keeps the header and its tabs in place from page to page', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visit(t, service.baseUrl);
  const places = async () => {
    const header = await page.getByRole('banner').boundingBox();
    const tabs = await page.getByRole('navigation', { name: 'Site' }).getByRole('link').all();
    const boxes = await Promise.all(tabs.map((tab) => tab.boundingBox()));
    return [header?.height, ...boxes.map((box) => [box?.x, box?.y])];
  };
  const first = await places();
  t.equal(first.length, 7);
  for (const path of ['/cases', '/packets', '/members', '/activity', '/search', '/me', '/about']) {
    await page.goto(service.baseUrl + path);
    t.strictSame(await places(), first, path);
  }
});

t.test('draws the actions of a note alike', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  await furnishSite(service);
  const { page } = await visit(t, service.baseUrl);
  await page.getByRole('button', { name: 'Report' }).first().waitFor();
  const lines = (await page.evaluate(
    `[...document.querySelectorAll('article .actions .button')].map(
      (element) => getComputedStyle(element).textDecorationLine)`,
  )) as string[];
  t.ok(lines.length >= 2, 'Reply and Report');
  t.strictSame(new Set(lines), new Set(['none']));
});
