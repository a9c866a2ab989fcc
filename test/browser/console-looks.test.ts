import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('adapts to large letters and forced colours, and clips marks', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const names = ['Z', `Z${'\u0301'.repeat(39)}`];
  for (const name of names) await submit(service, { name, message: 'The same' });
  const { page, context } = await openConsole(t, service, ann);
  await page.locator('.row').nth(1).waitFor();
  const pictures: string[] = [];
  for (const place of [1, 2]) {
    await page.locator(`.row:nth-child(${place}) .row-main`).click();
    await page.locator('.history li').first().waitFor();
    pictures.push((await page.locator('.flags').screenshot()).toString('base64'));
  }
  t.equal(pictures[0], pictures[1], 'a name does not overlap other content');

  await page.emulateMedia({ forcedColors: 'active' });
  const bordersOf = (what: string) =>
    page
      .locator(what)
      .evaluateAll((all) =>
        all.map((e) => e.ownerDocument.defaultView.getComputedStyle(e).borderInlineStartColor),
      );
  for (const [every, present] of [
    ['.row', '.row.here'],
    ['.views a', '.views a[aria-current]'],
  ] as const) {
    const [here] = await bordersOf(present);
    const same = (await bordersOf(every)).filter((border) => border === here);
    t.equal(same.length, 1, `${present} alone is marked`);
  }
  await page.getByRole('link', { name: 'Stats' }).click();
  const swatch = page.locator('.swatch.hatched').first();
  await swatch.waitFor();
  t.match(
    await swatch.evaluate((e) => e.ownerDocument.defaultView.getComputedStyle(e).backgroundImage),
    /gradient/,
  );
  await page.emulateMedia({ forcedColors: null });

  const settings = await context.newCDPSession(page);
  await settings.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
  await page.getByRole('link', { name: /^To do/ }).click();
  await page.locator('.row').nth(1).waitFor();
  await untilEqual(
    t,
    () => page.locator('.note').isVisible(),
    false,
    'large letters use one column',
  );
  await page.locator('.row-main').first().click();
  await page.getByRole('button', { name: 'List' }).waitFor();
  await page.goBack();
  await page.locator('.row-main').first().waitFor();
  await untilEqual(t, () => page.getByRole('heading', { name: 'To do', level: 2 }).count(), 1);
});

t.test('has room for a refusal, and for the ring of the focused row', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'Refused' });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row.here').waitFor();
  await page.keyboard.press('k');
  await page.locator('.row.here .row-main:focus').waitFor();
  const outlines = (await page.evaluate(
    `['.row.here', '.row.here .row-main'].map(
      (one) => getComputedStyle(document.querySelector(one)).outlineStyle)`,
  )) as string[];
  t.strictSame(outlines, ['solid', 'none'], 'around the row, not around its text');
  const message = 'Another moderator decided on this note at 11:41, while you were reading it.';
  const error = { code: 'conflict', message };
  await intercept(page, '**/decisions', (route) => route.fulfill({ status: 409, json: { error } }));
  await page.keyboard.press('a');
  const toast = page.locator('.toast.alert', { hasText: message });
  await toast.waitFor();
  const box = await toast.boundingBox();
  t.ok((box?.width ?? 0) > 250 && (box?.height ?? 999) < 140, `${box?.width} × ${box?.height}`);
});

t.test('keeps the claim on one line with five decisions', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const note = await submit(service, { message: 'Later' });
  await lead.post(`notes/${note.id}/decisions`, { action: 'defer', expected_version: 1 });
  const { page } = await openConsole(t, service, lead);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('link', { name: /^Deferred/ }).click();
  await page.getByRole('button', { name: 'Bring back' }).waitFor();
  const lines = await page.locator('.bar .button').evaluateAll((all) =>
    all.map((button) => {
      const { top, bottom } = button.getBoundingClientRect();
      return Math.round((top + bottom) / 2);
    }),
  );
  t.equal(lines.length, 6);
  t.equal(new Set(lines).size, 1, `${lines}`);
});
