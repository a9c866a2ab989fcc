import type { Page } from 'playwright-core';
import t from 'tap';
import { NEEDS_BROWSER } from '../harness/browser.ts';
import { openConsole, toast } from '../harness/console.ts';
import { hire, submit } from '../harness/moderation.ts';
import { startService } from '../harness/service.ts';

/** Begins to write, and leaves the field and the panel without having sent anything. */
async function typeAndLeave(page: Page, key: string, label: string, text: string): Promise<void> {
  await page.keyboard.press(key);
  const field = page.getByLabel(label);
  await field.fill(text);
  await field.press('Escape');
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
}

t.test('words for a lead never reach the author', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  const [one, two] = [await submit(service, { message: 'One' }), await submit(service)];
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(1).waitFor();
  await typeAndLeave(page, 'e', 'Why a lead should look', 'The author is my neighbour');
  await page.keyboard.press('r');
  t.equal(await page.getByLabel('Word to the author').inputValue(), '');
  await page.keyboard.press('1');
  await toast(page, /^Rejected/);
  const { history } = (await ann.get(`notes/${one.id}`)).body;
  t.match(history.at(-1), { type: 'NoteRejected', text: null });

  await typeAndLeave(page, 'r', 'Word to the author', 'Please stop');
  await page.keyboard.press('d');
  await page.keyboard.press('1');
  await toast(page, /^Deferred/);
  t.match((await ann.get(`notes/${two.id}`)).body.history.at(-1), { type: 'NoteDeferred' });
});
