import type { Page } from 'playwright-core';
import t from 'tap';
import { NEEDS_BROWSER } from '../support/browser.ts';
import { openConsoleWithNotes, untilToast } from '../support/console.ts';
import { visitGuestbook } from '../support/guestbook-page.ts';
import { startService } from '../support/service.ts';

const PHONE = { width: 320, height: 640 };

/** The number of lines that the text of an element takes. */
const countLines = (page: Page, selector: string): Promise<number> =>
  page.locator(selector).evaluate((element) => {
    const range = element.ownerDocument.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  });

t.test('breaks no title or button on the narrowest phone', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visitGuestbook(t, service, { viewport: PHONE });
  for (const size of ['24px', '']) {
    await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
    t.equal(await countLines(page, 'h1'), 1);
    for (const name of ['Sign in', 'Join'])
      t.equal(
        await countLines(page, `.membership button:text-is("${name}")`),
        1,
        `${name} ${size}`,
      );
  }
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByLabel('Handle').fill('a_handle_of_24_character');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Save your keys' }).waitFor();
  t.equal(await countLines(page, 'dialog .close'), 1);
  t.equal(await page.locator('dialog').evaluate((e) => e.scrollWidth - e.clientWidth), 0);
});

t.test('covers no next button with a confirmation', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['One', 'Two']);
  await page.setViewportSize(PHONE);
  await page.locator('.row', { hasText: 'One' }).locator('.row-main').click();
  await page.keyboard.press('a');
  await untilToast(page, 'Approved “One”');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  for (const button of await page.locator('.actions .button').all())
    t.equal(
      await button.evaluate((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [0.1, 0.5, 0.9].every((part) =>
          element.contains(
            element.ownerDocument.elementFromPoint(x + width / 2, y + height * part),
          ),
        );
      }),
      true,
      `${await button.textContent()}`,
    );
});

t.test('keeps the buttons at the bottom, however short the note', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['One', 'Two '.repeat(120)]);
  for (const height of [1024, 1400]) {
    await page.setViewportSize({ width: 768, height });
    for (const text of ['One', 'Two']) {
      await page.locator('.row', { hasText: text }).locator('.row-main').click();
      const { y, height: high } = (await page.locator('.actions').boundingBox()) ?? {};
      t.equal(Math.round((y ?? 0) + (high ?? 0)), height, text);
      await page.getByRole('button', { name: 'List' }).click();
    }
  }
});

t.test('leads from a note to the list by Back on a phone', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['One', 'Two']);
  await page.setViewportSize(PHONE);
  const open = () => page.locator('.row', { hasText: 'Two' }).locator('.row-main').click();
  const listed = () => page.locator('.row.here .row-main:focus', { hasText: 'Two' }).waitFor();
  const leads = page.evaluate(`new Promise((resolve) => new MutationObserver(() => {
    if (document.querySelector('.console.open')) resolve(history.state);
  }).observe(document.body, { subtree: true, attributes: true }))`);
  await open();
  t.same(await leads, { note: true }, 'Back leads to the list as soon as a note is open');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await page.goBack();
  await listed();
  await open();
  await page.getByRole('button', { name: 'List' }).click();
  await listed();
  await page.getByRole('link', { name: 'Decided' }).click();
  await page.goBack();
  await page.getByRole('heading', { name: 'To do', level: 2 }).waitFor();
  t.match(page.url(), /\/moderation$/, 'the console is never left');
});
