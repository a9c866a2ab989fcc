import type { Page } from 'playwright-core';
import t from 'tap';
import { addModerator, countClaims, submit } from '../../harness/moderation.ts';
import {
  holdRequest,
  intercept,
  NEEDS_BROWSER,
  untilEqual,
  untilHandled,
  visit,
} from '../support/browser.ts';
import { openConsoleWithNotes, signIn, untilToast } from '../support/console.ts';
import { startService } from '../support/service.ts';

/** Types a text, then leaves the field and the panel without sending it. */
async function typeAndLeave(page: Page, key: string, label: string, text: string): Promise<void> {
  await page.keyboard.press(key);
  const field = page.getByLabel(label);
  await field.fill(text);
  await field.press('Escape');
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
}

t.test('keeps a message for a lead from the author', NEEDS_BROWSER, async (t) => {
  const { service, ann, notes, page } = await openConsoleWithNotes(t, ['One', 'Hello']);
  const [one, two] = notes;
  await page.locator('.row').nth(1).waitFor();
  await typeAndLeave(page, 'e', 'Message to the lead', 'The author is my neighbour');
  await page.keyboard.press('r');
  t.equal(await page.getByLabel('Message to the author').inputValue(), '');
  await page.keyboard.press('1');
  await untilToast(page, /^Rejected/);
  const { history } = (await ann.get(`notes/${one?.id}`)).body;
  t.match(history.at(-1), { type: 'NoteRejected', text: null });

  await typeAndLeave(page, 'r', 'Message to the author', 'Please stop');
  await page.keyboard.press('d');
  await page.keyboard.press('1');
  await untilToast(page, /^Deferred/);
  t.match((await ann.get(`notes/${two?.id}`)).body.history.at(-1), { type: 'NoteDeferred' });
  await service.tamper('UPDATE notes SET deferred_until = clock_timestamp()');
  await page.getByRole('link', { name: /^Mine/ }).click();
  await page.getByRole('link', { name: /^To do/ }).click();
  await page.locator('.row').waitFor();
  await page.keyboard.press('r');
  await untilEqual(t, () => page.getByLabel('Message to the author').inputValue(), 'Please stop');
});

t.test('reports a deferral that escalates', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['One', 'Two']);
  await page.locator('.row').nth(1).waitFor();
  const defer = async () => {
    await page.keyboard.press('d');
    await page.keyboard.press('1');
  };
  await defer();
  await untilToast(page, 'Deferred “One”');
  await intercept(page, '**/decisions', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), tier: 'lead' } });
  });
  await defer();
  await untilToast(page, 'Escalated: deferred four times “Two”');
});

t.test('releases the claim of a panel that is left in any way', NEEDS_BROWSER, async (t) => {
  const { ann, page } = await openConsoleWithNotes(t, ['One', 'Two', 'Three']);
  await page.locator('.row').nth(2).waitFor();
  const leave = async (how: () => Promise<unknown>) => {
    await page.keyboard.press('r');
    await page.locator('.panel').waitFor();
    await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
    const released = page.waitForResponse(
      (answer) => answer.url().endsWith('/claims/release') && answer.ok(),
    );
    await how();
    await released;
    t.equal(await countClaims(ann), 0);
  };
  await leave(() => page.keyboard.press('j'));
  await leave(() => page.locator('.row', { hasText: 'Three' }).locator('.row-main').click());
  await leave(async () => {
    await page.keyboard.press('e');
    await page.getByLabel('Message to the lead').press('Escape');
    await page.keyboard.press('Escape');
  });
  await leave(() => page.getByRole('link', { name: /^Stats/ }).click());

  await page.getByRole('link', { name: /^To do/ }).click();
  await page.locator('.row').nth(2).waitFor();
  // The stream may announce the claim before its response, which the panel would wait for.
  const claimed = page.waitForResponse('**/api/moderation/claims');
  await page.keyboard.press('n');
  await untilHandled(page, claimed);
  await page.locator('.note .lease').waitFor();
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  await page.keyboard.press('j');
  await page.locator('.panel').waitFor({ state: 'detached' });
  t.equal(await countClaims(ann), 1, 'a manual claim stays');
});

t.test('releases a claim that arrives after its panel was left', NEEDS_BROWSER, async (t) => {
  const { ann, page } = await openConsoleWithNotes(t, ['Hello']);
  await page.locator('.row').waitFor();
  const claim = await holdRequest(page, '**/api/moderation/claims', 'request');
  await page.keyboard.press('r');
  await claim.arrived;
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
  const released = page.waitForResponse('**/claims/release');
  claim.release();
  await released;
  t.equal(await countClaims(ann), 0);
});

t.test('allows decisions at the claim limit', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['Hello']);
  await page.locator('.row').waitFor();
  const error = { code: 'conflict', reason: 'claim_limit', message: 'No.' };
  await intercept(page, '**/api/moderation/claims', (route) =>
    route.fulfill({ status: 409, json: { error } }),
  );
  const answered = page.waitForResponse('**/api/moderation/claims');
  await page.keyboard.press('r');
  await untilHandled(page, answered);
  t.equal(await page.locator('.row-fault').count(), 0);
  await page.keyboard.press('1');
  await untilToast(page, /^Rejected/);
});

t.test('sends a filled-in decision once and keeps its claim', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['Hello']);
  const claimed = page.waitForResponse('**/api/moderation/claims');
  await page.keyboard.press('r');
  await untilHandled(page, claimed);
  await page.locator('.row', { hasText: 'Claimed by you' }).waitFor();
  await page.getByLabel('Message to the author').fill('Please stop');
  await page.getByLabel('Message to the author').press('Escape');
  const sent: string[] = [];
  page.on('request', (request) => {
    const what = /[^/]*$/.exec(request.url())?.[0] ?? '';
    if (request.method() === 'POST') sent.push(what);
  });
  const decision = await holdRequest(page, '**/decisions', 'request');
  await page.keyboard.press('1');
  await decision.arrived;
  await page.keyboard.press('1');
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
  decision.release();
  await untilToast(page, /^Rejected/);
  t.same(sent, ['decisions']);
});

t.test('requests policies again after a failure', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service);
  const { page } = await visit(t, `${service.baseUrl}/moderation`, {
    expected: /status of 401|ERR_CONNECTION/,
  });
  const failures = Promise.withResolvers<void>();
  let requests = 0;
  await intercept(page, '**/api/moderation/policies', async (route) => {
    requests++;
    // The first request and both retries fail; the next one is held.
    if (requests > 3) await failures.promise;
    await (requests > 3 ? route.continue() : route.abort('connectionreset'));
  });
  await signIn(page, ann);
  await page.locator('.row').waitFor();
  while (requests < 3) await page.waitForEvent('requestfailed');
  await page.keyboard.press('r');
  await page.getByText('Loading the policies…').waitFor();
  failures.resolve();
  await page.locator('.panel').getByRole('button', { name: 'Spam' }).waitFor();
  await page.keyboard.press('1');
  await untilToast(page, /^Rejected/);
});

t.test('says which keys choose a policy where the focus is', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, ['Hello']);
  await page.locator('.row').waitFor();
  await page.keyboard.press('r');
  const panel = page.locator('.panel');
  await panel.getByText('1–6 rejects. Tab to add a message.').waitFor();
  await page.getByLabel('Message to the author').focus();
  await panel.getByText('Press Esc, then the number of a policy.').waitFor();
  await page.keyboard.press('Escape');
  await panel.getByText('1–6 rejects.').waitFor();
  await page.keyboard.press('1');
  await untilToast(page, /^Rejected/);
});
