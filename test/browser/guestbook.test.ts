import { randomUUID } from 'node:crypto';
import t from 'tap';
import { look, NEEDS_BROWSER } from '../harness/browser.ts';
import { startGuestbook, visitGuestbook, write } from '../harness/guestbook-page.ts';
import { decide, hire, submit } from '../harness/moderation.ts';

t.test('a guest writes, waits, and learns that the note is published', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const ann = await hire(whole.service, 'Ann');
  const visit = await visitGuestbook(t, whole);
  const { page } = visit;
  await page.getByText('No notes here yet').waitFor();
  await look(t, page, 'guestbook-empty');

  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('🌊'.repeat(501));
  await page.getByLabel('Name').fill('x'.repeat(41));
  await page.getByText('501 / 500').waitFor();
  await page.getByRole('button', { name: 'Send for review' }).click();
  const [text, name] = [page.getByLabel('Your note', { exact: true }), page.getByLabel('Name')];
  t.equal(await text.getAttribute('aria-invalid'), 'true');
  t.equal(await name.getAttribute('aria-invalid'), 'true');
  await page.waitForFunction('document.activeElement.name === "message"');
  await look(t, page, 'guestbook-errors');

  await text.fill('The tide came in at four, and with it a letter.\n\nI have kept it.');
  await name.fill('Marie');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  await look(t, page, 'guestbook-waiting');
  await page.reload();
  await page.getByText('Waiting for review', { exact: true }).waitFor();

  const { items } = (await ann.get('queue')).body;
  t.equal(items.length, 1);
  t.equal((await decide(ann, items[0].id, 'approve')).status, 201);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('article').filter({ hasText: 'Marie' }).waitFor();
  await page.getByText('Published', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Forget on this device' }).click();
  t.equal(await page.getByText('Your notes').count(), 0);
});

t.test('a note that is not published says so', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await hire(whole.service, 'Ann');
  const visit = await visitGuestbook(t, whole);
  await write(visit, 'Buy my boats');
  const { items } = (await ann.get('queue')).body;
  await decide(ann, items[0].id, 'reject');
  await visit.page.getByRole('button', { name: 'Check now' }).click();
  await visit.page.getByText('Not published', { exact: true }).waitFor();
});

t.test('notes, replies, older pages and the three guestbooks', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const { service } = whole;
  const ann = await hire(service, 'Ann');
  const publish = async (more: object) => {
    const note = await submit(service, more);
    await decide(ann, note.id, 'approve');
    return note;
  };
  for (let number = 1; number <= 31; number++)
    await publish({ name: `Visitor ${number}`, message: `Note number ${number}` });
  const parent = await publish({ name: 'Ada', message: 'Who else hears the bell?' });
  await publish({ name: 'Grace', message: 'I do.', parent_id: parent.id });
  await publish({ experience: 'two-clerks', name: 'Clerk', message: 'Filed.' });

  const { page } = await visitGuestbook(t, whole);
  const first = page.getByRole('article').first();
  await first.getByText('Who else hears the bell?').waitFor();
  await first.getByRole('button', { name: 'Replies' }).click();
  await first.getByText('I do.').waitFor();
  await look(t, page, 'guestbook-notes');
  t.equal(await page.locator('.notes > li').count(), 30);
  await page.getByRole('button', { name: 'Older notes' }).click();
  await page.getByText('Note number 1', { exact: true }).waitFor();
  t.equal(await page.locator('.notes > li').count(), 32);
  t.equal(await page.getByRole('button', { name: 'Older notes' }).count(), 0);
  await page.waitForFunction('document.activeElement.textContent.includes("Note number 2")');

  await page.getByRole('link', { name: 'Two Clerks' }).click();
  await page.getByText('Filed.').waitFor();
  t.equal(await page.title(), 'Two Clerks · Guestbook');
  await page.goBack();
  await first.getByText('Who else hears the bell?').waitFor();

  await first.getByRole('button', { name: 'Reply', exact: true }).click();
  await page.getByLabel('Your reply').fill('So do I.');
  await look(t, page, 'guestbook-reply');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('a reply in Service').waitFor();

  await page.locator('.notes').getByRole('button', { name: 'Report' }).first().click();
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByText('Choose what is wrong with it.').waitFor();
  await look(t, page, 'guestbook-report');
  await page.getByLabel('Spam or advertising').check();
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.equal((await ann.get('queue?view=reported')).body.items[0].id, parent.id);
});

t.test('hostile text is shown harmlessly', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const ann = await hire(whole.service, 'Ann');
  const texts = [
    {
      name: '<b>Bold</b>',
      message: '<img src=x onerror=alert(1)> <script>alert(1)</script> &amp;',
    },
    {
      name: '\u202eevil\u2066',
      message: 'safe \u202egnp.exe\u202c end \u2067 and \u200b\u200b more',
    },
    { name: 'مريم', message: 'مرحبا بالعالم 123, with English in it (and brackets).' },
    { name: 'שרה', message: 'English first, then עברית, and on.' },
    { name: 'W'.repeat(40), message: 'Ω'.repeat(500) },
    { name: '\u200b\u2060', message: `Z${'\u0300\u0315\u035c'.repeat(60)}algo` },
    { name: 'Lines', message: `a${'\n'.repeat(300)}b` },
  ];
  for (const text of texts) {
    const { id } = await submit(whole.service, text);
    await decide(ann, id, 'approve');
  }
  const { page } = await visitGuestbook(t, whole);
  await page.getByText('<b>Bold</b>').waitFor();
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  t.equal(await page.locator('main img, main script, main b').count(), 0);
  t.notMatch(await page.locator('main').innerText(), /[\u200b\u202a-\u202e\u2066-\u2069]/);
  const directions = `[...document.querySelectorAll('.message')]
    .find((element) => element.textContent.startsWith('مرحبا')).matches(':dir(rtl)')`;
  t.equal(await page.evaluate(directions), true, 'Arabic runs from right to left');
  await look(t, page, 'guestbook-hostile');
  await page.setViewportSize({ width: 640, height: 900 });
  await page.evaluate('document.documentElement.style.fontSize = "200%"');
  t.equal(
    await page.evaluate('document.documentElement.scrollWidth - innerWidth <= 0'),
    true,
    'nothing sticks out at 200 %',
  );
});

t.test('a note is kept when the network fails, and arrives once', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t);
  const ann = await hire(whole.service, 'Ann');
  const visit = await visitGuestbook(t, whole, {
    expected: /net::ERR|Failed to load|status of 409/,
  });
  const { page, context } = visit;
  // The answer is lost: the note arrives, and its author does not know.
  await page.route('**/api/guestbook', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('From a train');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Your text is kept').waitFor();
  await look(t, page, 'guestbook-unsent');
  await page.unroute('**/api/guestbook');

  await context.setOffline(true);
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('Your text is kept').waitFor();
  await context.setOffline(false);
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  t.equal((await ann.get('queue')).body.items.length, 1, 'one note, sent three times');

  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('Half a th');
  await page.reload();
  await page.getByRole('button', { name: 'Write a note…' }).click();
  t.equal(
    await page.getByLabel('Your note', { exact: true }).inputValue(),
    'Half a th',
    'a draft survives a reload',
  );

  const answer = await whole.service.call('POST', '/api/guestbook', {
    body: {
      id: await page.evaluate('JSON.parse(localStorage["guestbook.draft.service.top"]).id'),
      message: 'As it was before it was changed',
    },
  });
  t.equal(answer.status, 202);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Sending now makes this another note').waitFor();
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByLabel('Your note', { exact: true }).waitFor({ state: 'detached' });
  t.equal((await ann.get('queue')).body.items.length, 3);
});

t.test('refusals are said beside the form, and no text is lost', NEEDS_BROWSER, async (t) => {
  const whole = await startGuestbook(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1' });
  const visit = await visitGuestbook(t, whole, { expected: /status of 4\d\d/ });
  const { page } = visit;
  await write(visit, 'One');
  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('Two');
  await page.keyboard.press('Control+Enter');
  await page.getByText('in about ten minutes').waitFor();
  t.equal(await page.getByLabel('Your note', { exact: true }).inputValue(), 'Two');
  // What only the service knows stands beside the field that is at fault.
  await page.getByLabel('Your note', { exact: true }).fill('a\u0007b');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('alert').waitFor();
  t.equal((await whole.service.call('GET', `/api/guestbook/${randomUUID()}`)).status, 404);
});
