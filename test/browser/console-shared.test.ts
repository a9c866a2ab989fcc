import type { Page } from 'playwright-core';
import t from 'tap';
import { handled, holdOne, intercept, look, NEEDS_BROWSER } from '../harness/browser.ts';
import { openConsole, signIn, toast } from '../harness/console.ts';
import { othersDecided } from '../harness/decided-notes.ts';
import { decide, hire, submit } from '../harness/moderation.ts';
import { type Service, startService } from '../harness/service.ts';

/** The decision, and nothing that the page asks beside it, is what meets the session's end. */
const endAtDecision = (service: Service, page: Page) =>
  intercept(
    page,
    '**/decisions',
    async (route) => {
      await service.database.pool.query('DELETE FROM moderator_sessions');
      await route.continue();
    },
    { times: 1 },
  );

t.test('two moderators in two browsers on one note', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
  const [one] = [await submit(service, { message: 'One' }), await submit(service)];
  const anns = await openConsole(t, service, ann);
  const bobs = await openConsole(t, service, bob, { browser: anns.browser });
  await anns.page.locator('.note .text', { hasText: 'One' }).waitFor();

  await bobs.page.keyboard.press('n');
  await bobs.page.locator('.note .lease').waitFor();
  await anns.page.locator('.row', { hasText: 'Held by Bob' }).waitFor();
  await anns.page.getByText('Bob has been working on this since').waitFor();
  await anns.page.keyboard.press('a');
  await toast(anns.page, 'Not possible here');
  await bobs.page.keyboard.press('Escape');
  await anns.page.getByRole('button', { name: 'Approve a' }).waitFor();

  // Ann writes; her claim ends behind her back; Bob decides.
  await anns.page.keyboard.press('r');
  await anns.page.getByLabel('Word to the author').fill('A long and careful word');
  await anns.page.locator('.row', { hasText: 'Yours' }).waitFor();
  await intercept(anns.page, '**/api/moderation/stream', (route) => route.abort());
  await anns.context.setOffline(true);
  await anns.page.getByText('Live updates paused').waitFor();
  await service.database.pool.query('DELETE FROM note_leases');
  t.equal((await decide(bob, one.id, 'approve')).status, 201);
  await anns.context.setOffline(false);
  await anns.page.getByLabel('Word to the author').press('Escape');
  await anns.page.keyboard.press('1');
  await anns.page
    .locator('.panel', { hasText: /Bob decided at .*What you typed is kept/ })
    .waitFor();
  t.equal(await anns.page.getByLabel('Word to the author').inputValue(), 'A long and careful word');
  t.equal(await anns.page.locator('.panel').getAttribute('aria-busy'), 'false', 'to send again');
  await look(t, anns.page, 'moderation-conflict');
});

t.test(
  'the stream is cut, the queue is polled, and the stream goes on',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
    const first = await submit(service, { message: 'First' });
    const { page, context } = await openConsole(t, service, ann);
    await submit(service, { message: 'Second' });
    await page.locator('.row', { hasText: 'Second' }).waitFor();
    await page
      .getByRole('link', { name: /^To do/ })
      .filter({ hasText: '2' })
      .waitFor();

    await intercept(page, '**/api/moderation/stream', (route) => route.abort());
    await context.setOffline(true);
    await page.getByText('Live updates paused').waitFor();
    await look(t, page, 'moderation-paused');
    await context.setOffline(false);
    await submit(service, { message: 'Third' });
    await page.locator('.row', { hasText: 'Third' }).waitFor({ timeout: 30_000 });
    t.equal(await page.locator('.stream.paused').count(), 1, 'by polling alone');

    await bob.post('claims', { note_ids: [first.id] });
    const again = page.waitForResponse('**/api/moderation/stream');
    await page.unroute('**/api/moderation/stream');
    t.match(await (await again).request().headerValue('last-event-id'), /^\d+$/);
    await page.locator('.stream.live').waitFor();
    await page.locator('.row', { hasText: 'Held by Bob' }).waitFor();
  },
);

t.test('what only the counts tell is read, history included', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
  const { id } = await submit(service, { message: 'Put off' });
  const { page } = await openConsole(t, service, ann);
  await page.locator('.history li').first().waitFor();
  t.equal(await page.locator('.history li').count(), 1);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await bob.post(`notes/${id}/decisions`, { action: 'defer', expected_version: 1, until });
  // The present note stays until the moderator goes elsewhere.
  await page.locator('.history li', { hasText: 'deferred' }).waitFor();
  await page.getByRole('link', { name: /^Mine/ }).click();
  await page.getByRole('link', { name: /^To do/ }).click();
  await page.getByText('The queue is clear.').waitFor();
  await service.tamper('UPDATE notes SET deferred_until = clock_timestamp()');
  // No event brings it back: the counts are told together with any claim.
  await bob.post('claims', { note_ids: [id] });
  await page.locator('.row', { hasText: 'Put off' }).waitFor();
});

t.test(
  'a history that is asked for before another and comes after it is not shown',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
    await submit(service, { message: 'One' });
    const { id } = await submit(service, { message: 'Two' });
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').nth(1).waitFor();
    const first = await holdOne(page, `**/api/moderation/notes/${id}`, 'answer');
    await page.keyboard.press('j');
    await first.asked;
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await bob.post(`notes/${id}/decisions`, { action: 'defer', expected_version: 1, until });
    const deferred = page.locator('.history li', { hasText: 'deferred' });
    await deferred.waitFor();
    const answered = page.waitForResponse(`**/api/moderation/notes/${id}`);
    first.go();
    await handled(page, answered);
    t.equal(await deferred.count(), 1);
  },
);

t.test("another's decision is in the history of a note seen before", NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [lea, bob] = [await hire(service, 'Lea', 'lead'), await hire(service, 'Bob')];
  const { id } = await submit(service, { message: 'One' });
  await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, lea);
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await page.locator('.history li').first().waitFor();
  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await bob.post(`notes/${id}/decisions`, {
    action: 'escalate',
    expected_version: 1,
    message: 'For a lead',
  });
  await page.locator('.row', { hasText: 'Escalated' }).waitFor();
  await page.keyboard.press('k');
  await page.locator('.history li', { hasText: 'escalated' }).waitFor();
});

t.test(
  'a session that ends keeps the work; signing out gives all back',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await hire(service, 'Ann');
    const notes = [await submit(service), await submit(service)];
    const { page } = await openConsole(t, service, ann);
    await page.keyboard.press('r');
    await page.getByLabel('Word to the author').fill('Half a thought');
    await endAtDecision(service, page);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await page.getByLabel('Word to the author').press('Escape');
    await page.keyboard.press('1');
    await dialog.waitFor();
    await look(t, page, 'moderation-session-lost');
    await signIn(page, ann);
    await toast(page, /^Rejected/);
    const { history } = (await ann.get(`notes/${notes[0]?.id}`)).body;
    t.match(history.at(-1), { text: 'Half a thought' }, 'sent once, after the sign-in');

    await page.keyboard.press('n');
    await page.locator('.note .lease').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Moderation', exact: true }).waitFor();
    t.same((await ann.get('me')).body.leases, []);
    t.equal((await service.database.pool.query('SELECT FROM moderator_sessions')).rowCount, 0);
    await page.reload();
    await page.getByLabel('Token').waitFor();
  },
);

t.test(
  'an answer about fewer rows takes none of those that came meanwhile',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await hire(service, 'Ann');
    await service.tamper(othersDecided(60));
    await service.tamper(
      `UPDATE notes SET state = 'pending', approved_at = NULL, settled_at = NULL`,
    );
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').nth(49).waitFor();
    const firstPage = /\/queue\?(?!.*cursor=)/;
    const reread = await holdOne(page, firstPage, 'request');
    await submit(service);
    await reread.asked;
    await page.getByRole('button', { name: 'More' }).click();
    const last = page.locator('.row').nth(60);
    await last.waitFor();
    const answered = page.waitForResponse(firstPage);
    reread.go();
    await handled(page, answered);
    t.equal(await last.count(), 1);
  },
);

t.test('what was read anew while a list was on its way stays', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
  await service.tamper(othersDecided(120));
  await service.tamper(`UPDATE notes SET state = 'pending', approved_at = NULL, settled_at = NULL`);
  const { page } = await openConsole(t, service, ann);
  for (const shown of [50, 100]) {
    await page
      .locator('.row')
      .nth(shown - 1)
      .waitFor();
    await page.getByRole('button', { name: 'More' }).click();
  }
  await page.locator('.row').nth(119).waitFor();
  const secondPage = await holdOne(page, '**/api/moderation/queue**cursor=**', 'request');
  await submit(service);
  await secondPage.asked;
  await bob.post('claims', { count: 1 });
  const held = page.locator('.row').first().getByText('Held by Bob');
  await held.waitFor();
  const answered = page.waitForResponse('**/api/moderation/queue**cursor=**');
  secondPage.go();
  await handled(page, answered);
  t.equal(await held.count(), 1);
});

t.test('the sign-in stays over the page, and gives the focus back', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  await submit(service);
  const { page } = await openConsole(t, service, ann);
  await page.keyboard.press('r');
  await page.locator('.row', { hasText: 'Yours' }).waitFor();
  await service.database.pool.query('DELETE FROM moderator_sessions');
  // As a tab that is looked at again.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.getByRole('dialog').waitFor();
  for (let times = 0; times < 5; times++) await page.keyboard.press('Escape');
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
  t.equal(await page.locator('dialog:modal').count(), 1);
  t.equal(await page.evaluate('document.activeElement.name'), 'token');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).focus();
  await page.keyboard.press('a');
  await signIn(page, ann);
  t.equal(await page.evaluate('document.activeElement.closest("[data-panel]") !== null'), true);

  // In the task in which it comes, and in which it goes: a key after it is no command.
  await page.getByLabel('Word to the author').fill('Half a th');
  await service.database.pool.query('DELETE FROM moderator_sessions');
  const focus = page.evaluate(`new Promise((resolve) => {
    const names = [];
    let asked = false;
    new MutationObserver(() => {
      if ((document.querySelector('dialog') !== null) === asked) return;
      asked = !asked;
      names.push(document.activeElement.name);
      if (names.length === 2) resolve(names);
    }).observe(document.body, { subtree: true, childList: true });
    document.dispatchEvent(new Event('visibilitychange'));
  })`);
  await page.getByRole('dialog').waitFor();
  await signIn(page, ann);
  t.same(await focus, ['token', 'message']);
  await page.getByLabel('Word to the author').press('Escape');
  await page.keyboard.press('1');
  await toast(page, /^Rejected/);
});

t.test('a tab does nothing in the name of who signed in beside it', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, lea] = [await hire(service, 'Ann'), await hire(service, 'Lea', 'lead')];
  const { id } = await submit(service, { message: 'Whose?' });
  const { page } = await openConsole(t, service, ann);
  await page.keyboard.press('r');
  await page.locator('.row', { hasText: 'Yours' }).waitFor();
  await page.getByLabel('Word to the author').fill('Of Ann');
  // As in another tab, whose session the cookie of both is then, when the decision is on its way.
  const signInBeside = `fetch('/api/moderation/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify({ token: lea.token }))},
  }).then(({ status }) => status)`;
  await intercept(
    page,
    '**/decisions',
    async (route) => {
      t.equal(await page.evaluate(signInBeside), 200);
      await route.continue();
    },
    { times: 1 },
  );
  await page.getByLabel('Word to the author').press('Escape');
  await page.keyboard.press('1');
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  t.match((await lea.get(`notes/${id}`)).body, { item: { state: 'pending' } });
  await signIn(page, ann);
  await toast(page, /^Rejected/);
  const { history } = (await ann.get(`notes/${id}`)).body;
  t.match(history.at(-1), { text: 'Of Ann', actor: { name: 'Ann' } });
});

t.test('what one moderator had decided is never sent by another', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
  await submit(service, { message: 'Whose?' });
  const { page } = await openConsole(t, service, ann);
  await endAtDecision(service, page);
  await page.keyboard.press('a');
  await page.getByRole('dialog').waitFor();
  await signIn(page, bob);
  await page.locator('.who', { hasText: 'Bob' }).waitFor();
  await page.locator('.row', { hasText: 'Whose?' }).waitFor();
  const { rows } = await service.database.pool.query(`SELECT state FROM notes`);
  t.same(rows, [{ state: 'pending' }]);
});

t.test('an answer to a session that is over does not end the next', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
  await submit(service);
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').waitFor();
  const asked = await holdOne(page, '**/api/moderation/queue**', 'request');
  await submit(service);
  await asked.asked;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, bob);
  await page.locator('.row').nth(1).waitFor();
  const answered = page.waitForResponse((response) => response.status() === 401);
  asked.go();
  await handled(page, answered);
  t.equal(await page.getByRole('dialog').count(), 0);
  t.equal(await page.locator('.who', { hasText: 'Bob' }).count(), 1);
});

t.test(
  'what was tried for one moderator is not tried again for another',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
    await submit(service, { message: 'Whose?' });
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').waitFor();
    const tried = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    await intercept(
      page,
      '**/decisions',
      async (route) => {
        tried.resolve();
        await over.promise;
        await route.abort('connectionreset');
      },
      { times: 1 },
    );
    await page.keyboard.press('a');
    await tried.promise;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, bob);
    over.resolve();
    await toast(page, 'Not approved. Another moderator has signed in.');
    t.same((await service.database.pool.query('SELECT state FROM notes')).rows, [
      { state: 'pending' },
    ]);
  },
);

t.test(
  'an answer that comes late does not hide a claim that was made since',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
    await submit(service);
    const { id } = await submit(service);
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').nth(1).waitFor();
    const read = await holdOne(page, `**/notes/${id}`, 'answer');
    await page.keyboard.press('j');
    await read.asked;
    await bob.post('claims', { note_ids: [id] });
    const by = page.locator('.row', { hasText: 'Held by Bob' });
    await by.waitFor();
    read.go();
    await page.locator('.history li').first().waitFor();
    await by.waitFor();
    t.pass('whatever came late');
  },
);
