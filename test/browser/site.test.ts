import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, visit } from '../support/browser.ts';
import { hostileTexts } from '../support/hostile-texts.ts';
import { sealAll } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

t.test(
  'is accessible and fits on every page, in every size and colour',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
    const { ada, packets, caseId, note } = await furnishSite(service);
    await sealAll(service);
    const { page } = await visit(t, `${service.baseUrl}/members`, {
      expected: /status of 404/,
    });
    const pages: Record<string, string> = {
      members: '/members',
      member: `/members/${ada.handle}`,
      cases: '/cases',
      note: `/notes/${note.id}`,
      case: `/cases/${caseId}`,
      packets: '/packets',
      'packet-brief': `/packets/${packets.first}`,
      'packet-handoff': `/packets/${packets.work}`,
      activity: '/activity',
      search: '/search?q=telescope',
      write: '/write',
      sent: `/notes/${note.id}/sent`,
      report: `/report?type=note&id=${note.id}`,
      'report-sent': '/report/sent',
      about: '/about',
      'for-agents': '/for-agents',
      'not-found': '/nothing/here',
    };
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(service.baseUrl + path);
      await checkAppearance(t, page, `site-${name}`);
      t.equal(await page.locator('h1').count(), 1, `${name} has one title`);
      const isRecord = /^(note|case|packet-\w+)$/.test(name);
      const places = page.getByRole('link', { name: /^In the log at \d+$/ });
      t.equal(await places.count(), isRecord ? 1 : 0, `${name}: the place in the log`);
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
  for (const path of [
    '/cases',
    '/packets',
    '/members',
    '/activity',
    '/search',
    '/me',
    '/about',
    '/docs',
    '/docs/cases',
  ]) {
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

t.test('lists cases and activity in their column, in any size', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { ada, bob } = await furnishSite(service);
  const title = `${'A long title of a case that goes on and on '.repeat(3)}to its end`;
  await createOpenCase(createCaseCommands(ada), { title: title.slice(0, 120) });
  const note = await submit(service, { message: `${'word '.repeat(30)}end`, name: '' });
  const lead = await addModerator(service, 'Leo', 'lead');
  await decide(lead, note.id, 'approve');
  const family = '👨‍👩‍👧‍👦'.repeat(5);
  const other = await submit(service, { message: 'مرحبا بالعالم 123', name: family });
  await decide(lead, other.id, 'approve');
  const { page } = await visit(t, `${service.baseUrl}/cases`);
  const spacing = `{ const all = new CSSStyleSheet();
    all.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }');
    document.adoptedStyleSheets = [all]; }`;
  for (const path of ['/cases', `/members/${ada.handle}`, '/activity', '/search?q=telescope']) {
    for (const width of [320, 640, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(service.baseUrl + path);
      await page.evaluate(spacing);
      const over = 'document.documentElement.scrollWidth - innerWidth';
      t.ok(((await page.evaluate(over)) as number) <= 0, `${path} at ${width}`);
    }
  }
  await page.setViewportSize({ width: 320, height: 900 });
  await page.goto(`${service.baseUrl}/cases`);
  const claimed = page.locator('.lines > li', { hasText: 'Find the second moon' });
  t.match(await claimed.innerText(), new RegExp(`opened by ${ada.handle}.*`, 's'));
  t.match(await claimed.innerText(), /claimed by/);
  t.ok(bob.handle);
  await page.goto(`${service.baseUrl}/activity`);
  const cut = page.locator('.timed > li', { hasText: 'word word' });
  t.match(await cut.innerText(), /^A guest wrote: “word .*…”/s);
  const times = await page.locator('.timed > li time').allInnerTexts();
  for (const time of times) t.match(time, /^\d\d:\d\d UTC$/, 'the day is in the heading');
  await page.getByRole('link', { name: 'Profiles' }).click();
  t.strictSame(await page.locator('.timed > li p').allInnerTexts(), [
    `${bob.handle} published a profile: Bob`,
    `${ada.handle} published a profile: Ada of the observatory`,
  ]);
  await checkAppearance(t, page, 'site-activity-profiles');
});

t.test(
  'marks what was found in titles, and links a note by its author',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    await furnishSite(service);
    const { page } = await visit(t, `${service.baseUrl}/search?q=telescope`);
    await page.getByRole('link', { name: 'Note by Eve' }).waitFor();
    const packet = page.getByRole('link', { name: 'Packet Where the telescope points now' });
    t.strictSame(await packet.locator('mark').allInnerTexts(), ['telescope']);
  },
);

t.test("says what the place is in the operator's words", NEEDS_BROWSER, async (t) => {
  const name = `سجل الزوار ${'👩🏽‍🚀'.repeat(5)}`;
  const settings = {
    SITE_NAME: name,
    SITE_ABOUT: 'Eine Seite für Grüße <b>an alle</b>.',
    SITE_ABOUT_SERVICE: 'Über diesen Ort.',
    SITE_ABOUT_OBSERVATORY: 'Was am Himmel war.',
  };
  const service = await startService(t, settings);
  await furnishSite(service);
  const { page } = await visit(t, service.baseUrl);
  await page.getByRole('button', { name: 'Write a note…' }).waitFor();
  await page.getByText(settings.SITE_ABOUT, { exact: true }).waitFor();
  await page.getByText('Über diesen Ort.').waitFor();
  t.match(await page.title(), name);
  t.equal(await page.locator('.tabs').count(), 1, 'one row of tabs');
  const first = await page.getByRole('article').first().boundingBox();
  t.ok((first?.y ?? 999) < 450, `the first note begins at ${first?.y}`);
  await checkAppearance(t, page, 'first-screen');
  await page.setViewportSize({ width: 320, height: 640 });
  t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth <= 0'), true);
  await page.getByRole('link', { name: 'Observatory' }).click();
  await page.getByText('Was am Himmel war.').waitFor();
  t.equal(await page.locator('main b').count(), 0, 'the words are text');
  await page.goto(`${service.baseUrl}/docs`);
  await page.getByRole('banner').getByText(name).waitFor();
});

t.test('links web addresses in approved notes, and nothing else', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Leo', 'lead');
  const message =
    'See (https://example.org/a?b=1), javascript:alert(1) and https://a:b@example.org/';
  const { id } = await submit(service, { message });
  await decide(lead, id, 'approve');
  for (const path of ['/', `/notes/${id}`]) {
    const { page } = await visit(t, service.baseUrl + path);
    await page.getByRole('button', { name: 'Report' }).waitFor();
    const links = page.locator('.message a');
    t.equal(await links.count(), 1);
    t.equal(await links.getAttribute('href'), 'https://example.org/a?b=1');
    t.equal(await links.getAttribute('rel'), 'nofollow ugc noopener');
    t.equal(await page.locator('.message').innerText(), message);
    await checkAppearance(t, page, 'note-with-link');
  }
});
