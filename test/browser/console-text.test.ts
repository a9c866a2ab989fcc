import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { currentText, openConsole, openConsoleWithNotes } from '../support/console.ts';
import { startService } from '../support/service.ts';

const HOSTILE = [
  ['<img src=x onerror="window.hit=1"><script>window.hit=1</script> <a href="//evil">go</a>', []],
  ['user\u202Egnp.exe and \u2066hidden\u2069', ['right-to-left override', 'left-to-right isolate']],
  ['pass\u200Bword and a\u00ADb', ['zero width space', 'soft hyphen']],
  ['W'.repeat(280), []],
  [`Z${'\u0301'.repeat(60)}algo`, []],
  ['A\uFE01\u{E0150}\uFE0F', ['character U+FE01', 'character U+E0150', 'character U+FE0F']],
  ['\u{E0048}\u{E0049} \u{1F3F4}\u{E0078}\u{E007F}', ['character U+E0049', 'character U+E0078']],
  ['x\u180B\uFFF0\u{1BCA0}\u{1D173}\u{E0FFF}', ['character U+180B', 'character U+FFF0']],
  ['❤️ 1️⃣ ☎︎ \u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}', []],
  ['אני אוהב C++\u200E וגם C#\u200E, สวัสดี\u200Bชาวโลก ᠨ\u180Eᠠ \u115F\u1161\u11A8', []],
  ['made by Eve\u200F!', ['right-to-left mark']],
  ['مرحبا\u200Cها 👩\u200D👧 https://example.org/x', []],
] as const;

t.test('shows hostile text as text and marks hidden characters', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (const [message] of HOSTILE) await submit(service, { message, name: 'Eve\u202E<b>' });
  const { page } = await openConsole(t, service, ann);
  await page
    .locator('.row')
    .nth(HOSTILE.length - 1)
    .waitFor();
  for (const [index, [message, marks]] of HOSTILE.entries()) {
    if (index > 0) await page.keyboard.press('j');
    await page.locator(`.row.here:nth-child(${index + 1})`).waitFor();
    const shown = await page.locator('.note .text .mark').all();
    const named = await Promise.all(shown.map((mark) => mark.getAttribute('aria-label')));
    for (const mark of marks) t.ok(named.includes(mark), mark);
    if (marks.length === 0) await untilEqual(t, () => currentText(page), message);
    else
      t.notMatch(
        await currentText(page),
        /(?![\u200E\u200F\u061C])\p{Default_Ignorable_Code_Point}/u,
      );
    await checkAppearance(t, page, `moderation-hostile-${index + 1}`);
  }
  for (const name of await page.locator('.author, #note-title bdi, .record bdi').all())
    await untilEqual(
      t,
      () => name.locator('.mark').getAttribute('aria-label'),
      'right-to-left override',
    );
  t.equal(
    await page
      .locator(
        '.note a:not(.note-head .hint > a, .record > p > a, .history > a), .row a, .note img',
      )
      .count(),
    0,
    'no link or image is rendered, but those to the note, to its address and to the audit',
  );
  await untilEqual(t, () => page.locator('.note a').count(), 3);
  t.equal(await page.evaluate('window.hit'), undefined);
  t.equal((await page.locator('.note bdi[dir=auto]').count()) > 0, true);
});

t.test('marks and quotes what a finding refers to as written', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service, { message: '😀 Glass, \u00E5ss and f\u00ADuck at a.org' });
  await screenNote(service.core, { note_id: id });
  await submit(service, { message: 'Next' });
  const { page } = await openConsole(t, service, ann);
  await page.getByText('This text has abusive words.').waitFor();
  t.equal(await page.locator('.note .text').count(), 0, 'it is folded');
  await checkAppearance(t, page, 'moderation-shielded');
  await page.keyboard.press('v');
  const found = page.locator('.note .text mark.found');
  await found.nth(4).waitFor();
  await untilEqual(t, () => found.allTextContents(), ['\u00E5ss', 'f', 'SHY', 'uck', 'a.org']);
  await untilEqual(
    t,
    () => found.first().getAttribute('title'),
    'profanity: 2 words, read as “ass”, “fuck”',
  );
  const finding = page.locator('.finding').filter({ hasText: 'profanity' });
  await untilEqual(t, () => finding.locator('.word').allTextContents(), ['\u00E5ss', 'fSHYuck']);
  await checkAppearance(t, page, 'moderation-found');

  await page.locator('#search').fill('ss and');
  await page.keyboard.press('Enter');
  await page.locator('.note .text mark.found.hit', { hasText: 'ss' }).waitFor();
  await untilEqual(t, () => page.locator('.note .text mark').allTextContents(), [
    '\u00E5',
    'ss',
    ' and',
    'f',
    'SHY',
    'uck',
    'a.org',
  ]);
});

t.test('ends an excerpt with a whole character', NEEDS_BROWSER, async (t) => {
  const { page } = await openConsoleWithNotes(t, [`a${'😀'.repeat(200)}`]);
  await untilEqual(t, () => page.locator('.row .excerpt').textContent(), `a${'😀'.repeat(139)}`);
});

t.test('offers no author search for a guest without a name', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { name: 'Ada' });
  await submit(service, { name: '' });
  const { page } = await openConsole(t, service, ann);
  const before = page.getByRole('button', { name: 'More by this author' });
  await before.waitFor();
  await page.keyboard.press('j');
  await page.getByText('Guest without a name.').waitFor();
  t.equal(await before.count(), 0);
});

t.test('lists similar notes beside the current one', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const screened = async (message: string) => {
    const note = await submit(service, { message });
    await screenNote(service.core, { note_id: note.id });
    return note;
  };
  const spam = 'win a free holiday on the moon, all you need to do is write to us today';
  await decide(ann, (await screened(spam)).id, 'reject');
  await screened(`${spam}, dear \u202Efriend`);
  await screened(`${spam}, my dear friend`);
  const { page } = await openConsole(t, service, ann);
  const row = page.locator('.row', { hasText: 'my dear friend' });
  await row.locator('.row-main').click();
  await page.locator('.row.here', { hasText: 'my dear friend' }).waitFor();
  const alike = page.locator('.alike li', { hasText: /^\d\d% similar · rejected/ });
  await alike.waitFor();
  await untilEqual(t, () => alike.locator('bdi').textContent(), spam, 'as its author wrote it');
  await page.locator('.finding', { hasText: /^Like 1 waiting note$/ }).waitFor();
  await page.locator('.finding', { hasText: /^Like 1 rejected note$/ }).waitFor();
  await row.getByText('Likely spam').waitFor();
});

t.test('says in the row of a note that something was found in it', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (const message of ['See https://a.example', 'See nothing']) {
    const { id } = await submit(service, { message });
    await screenNote(service.core, { note_id: id });
  }
  const { page } = await openConsole(t, service, ann);
  const rows = page.locator('.row');
  await untilEqual(t, () => rows.count(), 2);
  const tag = page.getByText('Has findings', { exact: true });
  t.equal(await rows.filter({ hasText: 'a.example' }).filter({ has: tag }).count(), 1);
  t.equal(await tag.count(), 1);
});
