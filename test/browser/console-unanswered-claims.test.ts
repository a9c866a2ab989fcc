import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { countClaims } from '../../harness/moderation.ts';
import { holdRequest, intercept, NEEDS_BROWSER, untilHandled } from '../support/browser.ts';
import {
  CONFLICT_RESPONSE,
  countNotesByState,
  currentText,
  numberedTexts,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';

/** Opens a console that knows its claim of the first note by the stream, with the response held. */
async function claimUnanswered(
  t: Test,
  messages: readonly string[],
  ask = (page: Page) => page.keyboard.press('n'),
) {
  const { ann, page } = await openConsoleWithNotes(t, messages);
  await page
    .locator('.row')
    .nth(messages.length - 1)
    .waitFor();
  const claim = await holdRequest(page, '**/api/moderation/claims', 'answer');
  const answered = page.waitForResponse('**/api/moderation/claims');
  await ask(page);
  await page.locator('.note .lease').waitFor();
  const answer = () => {
    claim.release();
    return untilHandled(page, answered);
  };
  return { ann, page, answer };
}

t.test('does not retake a claim released before its response', NEEDS_BROWSER, async (t) => {
  const { page, answer } = await claimUnanswered(t, ['One']);
  const yours = page.locator('.row', { hasText: 'Claimed by you' });
  await yours.waitFor();
  const release = page.waitForResponse('**/claims/release');
  await page.keyboard.press('Escape');
  await release;
  await answer();
  t.equal(await yours.count(), 0);
  t.equal(await page.locator('.note .lease').count(), 0);
});

t.test('keeps a decision made before its claim was answered', NEEDS_BROWSER, async (t) => {
  const { page, answer } = await claimUnanswered(t, ['One', 'Two']);
  await page.keyboard.press('a');
  await untilToast(page, 'Approved');
  await answer();
  t.equal(await currentText(page), 'Two');
  t.equal(await page.locator('.row').count(), 1);
  t.equal(await page.locator('.note .lease').count(), 0);
});

t.test('does not move back when a claim is answered late', NEEDS_BROWSER, async (t) => {
  const { page, answer } = await claimUnanswered(t, ['One', 'Two'], (page) =>
    page.locator('.bar').getByRole('button', { name: 'Claim' }).click(),
  );
  await page.locator('.row.here .row-main:focus').waitFor();
  await page.keyboard.press('a');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await answer();
  await untilToast(page, 'Approved “One”');
  t.equal(await currentText(page), 'Two');
});

t.test('holds a claim whose decision was refused before its answer', NEEDS_BROWSER, async (t) => {
  const { ann, page, answer } = await claimUnanswered(t, ['One', 'Two']);
  const refused = Promise.withResolvers<void>();
  const decision = page.waitForRequest('**/decisions');
  await intercept(page, '**/decisions', async (route) => {
    await refused.promise;
    await route.fulfill(CONFLICT_RESPONSE);
  });
  await page.keyboard.press('a');
  await decision;
  await answer();
  refused.resolve();
  await untilToast(page, 'Not approved.');
  await page.locator('.note .lease').waitFor();
  t.equal(await currentText(page), 'One');
  const released = page.waitForResponse('**/claims/release');
  await page.keyboard.press('Escape');
  await released;
  t.equal(await countClaims(ann), 0);
});

t.test('restores nothing decided when a claim is answered late', NEEDS_BROWSER, async (t) => {
  const { service, page } = await openConsoleWithNotes(t, numberedTexts(3));
  await page.locator('.row').nth(2).waitFor();
  let release: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    release = resolve;
  });
  await intercept(page, '**/api/moderation/claims', async (route) => {
    const response = await route.fetch();
    await answered;
    await route.fulfill({ response });
  });
  let releases = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/claims/release')) releases++;
  });
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  await page.keyboard.press('1');
  await page.locator('.note .text', { hasText: 'Note 2' }).waitFor();
  await page.keyboard.press('a');
  await untilToast(page, 'Approved');
  t.equal(await currentText(page), 'Note 3');
  release();
  await untilToast(page, 'Rejected');
  t.equal(await currentText(page), 'Note 3');
  t.equal(await page.locator('.row').count(), 1);
  t.equal(releases, 0, 'the decision ends the claim');
  t.same(await countNotesByState(service), { approved: 1, pending: 1, rejected: 1 });
});
