import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import {
  checkAppearance,
  NEEDS_BROWSER,
  untilEqual,
  untilTrue,
  visit,
} from '../support/browser.ts';
import { startGuestbook, untilConfirmed, visitGuestbook } from '../support/guestbook-page.ts';

t.test('shows notes, replies, older pages and three guestbooks', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
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

  const { page } = await visitGuestbook(t, service);
  const first = page.getByRole('article').first();
  await first.getByText('Who else hears the bell?').waitFor();
  await checkAppearance(t, page, 'guestbook-notes');
  await untilEqual(t, () => page.locator('.notes > li').count(), 30);
  await page.getByRole('link', { name: 'Older notes' }).click();
  await page.getByText('Note number 1', { exact: true }).waitFor();
  await untilEqual(t, () => page.locator('.notes > li').count(), 2);
  t.equal(await page.getByRole('link', { name: 'Older notes' }).count(), 0);
  await page.goBack();
  await page.getByRole('link', { name: 'Older notes' }).waitFor();

  await page.getByRole('link', { name: 'Two Clerks' }).click();
  await page.getByText('Filed.').waitFor();
  await untilEqual(t, () => page.title(), 'Two Clerks · Guestbook');
  await page.emulateMedia({ forcedColors: 'active' });
  const [open, closed, alsoClosed] = (await page.evaluate(
    `[...document.querySelectorAll('.tabs a')]
      .map((link) => getComputedStyle(link).borderBlockEndColor)`,
  )) as string[];
  t.equal(closed, alsoClosed);
  t.not(closed, open, 'only the tab of the page is underlined, in forced colours too');
  await page.emulateMedia({ forcedColors: null });
  await page.goBack();
  await first.getByRole('link', { name: '1 reply' }).click();
  await page.getByText('I do.').waitFor();
  await untilEqual(t, () => page.title(), 'Ada: Who else hears the bell? · Guestbook');

  await page.getByRole('button', { name: 'Write a reply…' }).click();
  await page.getByLabel('Your reply').fill('So do I.');
  await checkAppearance(t, page, 'guestbook-reply');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Reply in Service').waitFor();

  await first.getByRole('button', { name: 'Report' }).click();
  const dialog = page.getByRole('dialog', { name: 'Report this note' });
  await dialog.getByText('Who else hears the bell?').waitFor();
  await dialog.getByText('Ada').waitFor();
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByText('Choose a reason.').waitFor();
  await checkAppearance(t, page, 'guestbook-report');
  await page.getByLabel('Spam or advertising').check();
  await page.getByRole('button', { name: 'Send report' }).click();
  await dialog.waitFor({ state: 'detached' });
  await untilConfirmed(page, 'Thank you. A moderator will review “Who else hears the bell?”');
  // It stays while the pointer is on it, and then while it has the focus.
  await page.locator('.toast').hover();
  await untilTrue(page, 'document.activeElement.textContent === "Reported"');
  await page.keyboard.press('Enter');
  t.equal(await dialog.count(), 0, 'a note is reported once');
  const dismiss = page.getByRole('button', { name: 'Dismiss' });
  await dismiss.focus();
  await checkAppearance(t, page, 'guestbook-reported');
  await dismiss.click();
  await page.locator('.toast').waitFor({ state: 'detached' });
  t.equal((await ann.get('queue?view=reported')).body.items[0].id, parent.id);
});

t.test('labels a note without visible text and names its guest', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  // Earlier releases accepted such texts.
  for (const text of ['\u200d', '\u2800', '\u0301', '\u3164', '\ufe0f']) {
    const { id } = await submit(service, { name: text });
    await decide(ann, id, 'approve');
    await service.tamper('UPDATE notes SET message = $2 WHERE note_id = $1', [id, text]);
  }
  const { page } = await visitGuestbook(t, service);
  await page.getByText('(no visible text)').first().waitFor();
  await untilEqual(t, () => page.getByText('(no visible text)').count(), 5);
  await untilEqual(
    t,
    () => page.locator('.note :is(h1, h3) .name').allInnerTexts(),
    Array.from({ length: 5 }, () => 'A guest'),
  );
  t.equal(await page.locator('.note .who').count(), 0, 'and says so once');
});

t.test('shows hostile text harmlessly', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
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
    { name: `Z${'\u0301'.repeat(39)}`, message: 'Marks in a name' },
    { name: 'Lines', message: `a${'\n'.repeat(300)}b` },
  ];
  for (const text of texts) {
    const { id } = await submit(service, text);
    await decide(ann, id, 'approve');
  }
  const { page } = await visitGuestbook(t, service);
  await page.getByText('<b>Bold</b>').waitFor();
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  t.equal(await page.locator('main img, main script, main b').count(), 0);
  t.notMatch(await page.locator('main').innerText(), /[\u202a-\u202e\u2060\u2066-\u2069]/);
  const directions = `[...document.querySelectorAll('.message')]
    .find((element) => element.textContent.startsWith('مرحبا')).matches(':dir(rtl)')`;
  t.equal(await page.evaluate(directions), true, 'Arabic runs from right to left');
  const clipped = `[...document.querySelectorAll('.note :is(h1, h3):has(bdi), .message')]
    .every((element) => getComputedStyle(element).overflow === 'clip')`;
  t.equal(await page.evaluate(clipped), true, 'stacked marks are clipped');
  await checkAppearance(t, page, 'guestbook-hostile');
  await page.setViewportSize({ width: 640, height: 900 });
  await page.evaluate('document.documentElement.style.fontSize = "200%"');
  t.equal(
    await page.evaluate('document.documentElement.scrollWidth - innerWidth <= 0'),
    true,
    'nothing overflows at 200 %',
  );
});

t.test(
  'reads whole without scripts, from a note to its thread and back',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t);
    const ann = await addModerator(service, 'Ann');
    const note = await submit(service, { name: 'Ada', message: 'Who else hears the bell?' });
    await decide(ann, note.id, 'approve');
    const reply = await submit(service, { name: 'Grace', message: 'I do.', parent_id: note.id });
    await decide(ann, reply.id, 'approve');
    const { page } = await visit(t, service.baseUrl, { javaScriptEnabled: false });
    t.equal(await page.getByRole('button').count(), 0, 'nothing that needs a script');
    await page.getByRole('link', { name: '1 reply' }).click();
    await page.getByText('I do.').waitFor();
    await untilEqual(t, () => new URL(page.url()).pathname, `/notes/${note.id}`);
    await page.locator('.replies .when').click();
    await untilEqual(t, () => new URL(page.url()).pathname, `/notes/${reply.id}`);
    await page.getByRole('link', { name: 'Who else hears the bell?' }).click();
    await page.getByRole('link', { name: 'Service' }).click();
    await page.getByRole('heading', { name: 'Service' }).waitFor();
    await page.goto(`${service.baseUrl}/guestbook/observatory`);
    await page.getByText('No notes here yet').waitFor();
  },
);

t.test('takes a note without scripts', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const { page } = await visit(t, service.baseUrl, {
    javaScriptEnabled: false,
    expected: /status of 422/,
  });
  await page.getByRole('link', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note').fill('x'.repeat(501));
  await page.getByLabel('Name').fill('Marie');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('501 characters: 1 too many. Your text is kept.').waitFor();
  await page.getByLabel('Your note').fill('Without scripts');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByRole('heading', { name: 'Your note waits for review' }).waitFor();
  const [item] = (await ann.get('queue')).body.items;
  t.match(item, { text: 'Without scripts', author: { name: 'Marie' } });
  await decide(ann, item.id, 'approve');
  await page.reload();
  await page.getByRole('link', { name: 'Your note' }).click();
  await page.getByRole('heading', { name: 'Marie' }).waitFor();
});

t.test(
  'posts a note once when Back and Send repeat it without scripts',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startGuestbook(t);
    const ann = await addModerator(service, 'Ann');
    const { page } = await visit(t, `${service.baseUrl}/write?in=service`, {
      javaScriptEnabled: false,
    });
    await page.getByLabel('Your note').fill('Sent twice');
    for (const _ of ['sent', 'sent again after Back']) {
      await page.getByRole('button', { name: 'Send for review' }).click();
      await page.getByRole('heading', { name: 'Your note waits for review' }).waitFor();
      await page.goBack();
      await untilEqual(t, () => page.getByLabel('Your note').inputValue(), 'Sent twice');
    }
    t.equal((await ann.get('queue')).body.items.length, 1);
  },
);

t.test('leads from an old address of a guestbook to its page', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const { page } = await visit(t, `${service.baseUrl}/#observatory`);
  await page.waitForURL('**/guestbook/observatory');
});

t.test('shows a thread from its first reply to its last', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1000' });
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { name: 'Ada', message: 'Who else hears the bell?' });
  await decide(ann, note.id, 'approve');
  const reply = async (number: number) => {
    const message = `Reply ${number}`;
    const { id } = await submit(service, { message, parent_id: note.id });
    await decide(ann, id, 'approve');
  };
  const thread = `${service.baseUrl}/notes/${note.id}`;
  const { page } = await visit(t, thread, { javaScriptEnabled: false });
  const empty = page.getByText('No replies yet.');
  const align = await empty.evaluate(
    (e) => e.ownerDocument.defaultView.getComputedStyle(e).textAlign,
  );
  t.equal(align, 'start', 'aligned like other empty lists');
  for (let number = 1; number <= 6; number++) await reply(number);
  await page.reload();
  const shown = async () =>
    (await page.locator('.replies .message').allInnerTexts()).map((text) => text.slice(6));
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, before) => String(from + before));
  await page.getByRole('heading', { name: '6 replies' }).waitFor();
  await untilEqual(t, shown, numbers(1, 6));
  await page.getByRole('link', { name: 'Last reply' }).click();
  t.match(page.url(), /#note-/, 'a jump within the page');

  for (let number = 7; number <= 65; number++) await reply(number);
  await page.goto(thread);
  await page.getByRole('heading', { name: '65 replies' }).waitFor();
  await untilEqual(t, shown, numbers(1, 30));
  await page.getByRole('link', { name: 'Later replies' }).click();
  await untilEqual(t, shown, numbers(31, 60));
  await page.getByRole('link', { name: 'Last reply' }).click();
  await untilEqual(t, shown, numbers(36, 65));
  t.equal(await page.getByRole('link', { name: 'Later replies' }).count(), 0);
  await page.getByRole('link', { name: 'Earlier replies' }).click();
  await untilEqual(t, shown, numbers(6, 35));
  await page.getByRole('link', { name: 'Earlier replies' }).click();
  await untilEqual(t, shown, numbers(1, 5));
  await page.getByRole('link', { name: 'Later replies' }).click();
  await untilEqual(t, shown, numbers(6, 35));
  await page.getByRole('link', { name: 'First reply' }).click();
  await untilEqual(t, shown, numbers(1, 30));
  const { entries } = (await service.call('GET', `/api/guestbook?parent_id=${note.id}`)).body;
  t.equal(entries[0].message, 'Reply 65', 'the API lists the newest first, as before');
});

t.test('adds an own reply at the end of the thread', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { name: 'Ada', message: 'Who else hears the bell?' });
  await decide(ann, note.id, 'approve');
  const first = await submit(service, { message: 'The first', parent_id: note.id });
  await decide(ann, first.id, 'approve');
  const { page } = await visitGuestbook(t, service, { path: `/notes/${note.id}` });
  await page.getByRole('button', { name: 'Write a reply…' }).click();
  await page.getByLabel('Your reply').fill('The last');
  await page.getByRole('button', { name: 'Send for review' }).click();
  const own = page.locator('.own-note', { hasText: 'The last' });
  await own.getByText('Waiting for review', { exact: true }).waitFor();
  await decide(ann, (await ann.get('queue')).body.items[0].id, 'approve');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByRole('heading', { name: '2 replies' }).waitFor();
  await checkAppearance(t, page, 'thread');
  t.strictSame(await page.locator('.replies .message').allInnerTexts(), ['The first', 'The last']);
});
