import t from 'tap';
import { addModerator, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { MAX_SCANNED } from '../../services/moderation/queue/queue-page.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import {
  checkAppearance,
  holdRequest,
  NEEDS_BROWSER,
  untilEqual,
  visit,
} from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { insertNotesOfOthers } from '../support/decided-notes.ts';
import { advanceTime } from '../support/passing-time.ts';
import { type Service, startService } from '../support/service.ts';
import { startWorker } from '../support/worker.ts';

// An appeal is possible after the undo window.
const SETTINGS = { UNDO_WINDOW_SECONDS: '1' };
const KEYS = { SERVER_KEYS: `1:${'a'.repeat(64)}` };

/** Creates notes in many states, screened by the real worker. */
async function createNotes(t: Parameters<typeof startWorker>[0], service: Service, ann: Moderator) {
  const member = await signedIn(service);
  const own = { name: '', attribution: 'member', member_handle: member.handle };
  const say = (message: string, more: object = {}) => submit(service, { message, ...more });
  const parent = await say('The harbour at dawn is worth the walk.', { name: 'Ines' });
  await decide(ann, parent.id, 'approve');
  const reported = await say('Old news, told twice.', { name: 'Otto' });
  await decide(ann, reported.id, 'approve');
  await service.call('POST', `/api/guestbook/${reported.id}/report`, {
    body: { reason: 'spam', details: 'He writes this everywhere.' },
  });
  const rejected = await submit(service, { ...own, message: 'Buy my book' }, member.cookie);
  await decide(ann, rejected.id, 'reject');
  await say('CHEAP PILLS http://1.2.3.4/x http://pills.example now now now now', { name: 'Deal' });
  await say('Seconded. The fish market opens at five, bring cash and patience.', {
    name: 'Tomás',
    parent_id: parent.id,
  });
  await say('שלום לכולם, תודה על האירוח!', { name: 'נועה' });
  await submit(service, { ...own, message: 'Thank you for having us.' }, member.cookie);
  const hard = await say('Is this a threat? I cannot tell.', { name: 'Ari' });
  await ann.post(`notes/${hard.id}/decisions`, {
    action: 'escalate',
    expected_version: 1,
    message: 'Please look, Lea',
  });
  for (let status = 0; status !== 202; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const body = { text: 'It is a book of poems, and it is free.' };
    const path = `/api/guestbook/${rejected.id}/appeal`;
    ({ status } = await service.call('POST', path, { body, cookie: member.cookie }));
  }
  const { url } = service.database;
  await startWorker(t, { DATABASE_URL: url, BASE_URL: service.baseUrl, ...KEYS, ...SETTINGS });
  for (let open = 1; open > 0; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { rows } = await service.database.pool.query(
      `SELECT count(*)::int AS open FROM notes n WHERE state = 'pending'
        AND NOT EXISTS (SELECT FROM note_screenings s WHERE s.note_id = n.note_id)`,
    );
    open = rows[0].open;
  }
}

t.test('shows every view without axe violations, in each look', NEEDS_BROWSER, async (t) => {
  const service = await startService(t, { ...KEYS, ...SETTINGS });
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const { page: gate } = await visit(t, `${service.baseUrl}/moderation`, {
    expected: /status of 401/,
  });
  await gate.getByLabel('Token').fill('mod_wrong');
  await gate.keyboard.press('Enter');
  await gate.getByText('This token is not accepted').waitFor();
  await checkAppearance(t, gate, 'moderation-sign-in');

  await createNotes(t, service, ann);
  const { page } = await openConsole(t, service, lea);
  const open = (name: RegExp) => page.getByRole('link', { name }).click();
  await page.locator('.row').nth(4).waitFor();
  await page.locator('.row', { hasText: 'CHEAP PILLS' }).locator('.row-main').click();
  await page.locator('.finding').first().waitFor();
  await page.locator('.history li').first().waitFor();
  await checkAppearance(t, page, 'moderation-note');
  await page.keyboard.press('r');
  await page.locator('.panel').waitFor();
  await checkAppearance(t, page, 'moderation-reject');
  await page.keyboard.press('Escape');
  await page.locator('.row', { hasText: 'Seconded' }).locator('.row-main').click();
  await page.locator('.parent bdi', { hasText: 'Ines' }).waitFor();
  await open(/^Reported/);
  await page.locator('.finding.report').first().waitFor();
  await checkAppearance(t, page, 'moderation-reported');
  await open(/^Appeals/);
  await page.getByRole('button', { name: /Grant the appeal/ }).waitFor();
  await checkAppearance(t, page, 'moderation-appeal');
  await open(/^Decided/);
  await page.locator('.row').nth(2).waitFor();
  await checkAppearance(t, page, 'moderation-decided');
  await open(/^Stats/);
  await page.getByText('Arrivals and decisions as a table').click();
  await checkAppearance(t, page, 'moderation-stats');
  await open(/^Policies/);
  await page.locator('.policy-list li').first().waitFor();
  await checkAppearance(t, page, 'moderation-policies');
  await page.getByRole('button', { name: 'New policy' }).click();
  await checkAppearance(t, page, 'moderation-policy-editor');
  await page.keyboard.press('Escape');
  await open(/^Audit/);
  await page.locator('.audit tbody tr').nth(3).waitFor();
  await checkAppearance(t, page, 'moderation-audit');
  await open(/^Mine/);
  await page.getByText('You have no claims.').waitFor();
  await page.getByText('Last decision').waitFor();
  await checkAppearance(t, page, 'moderation-empty');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await checkAppearance(t, page, 'moderation-help');
  await page.keyboard.press('Escape');
  await open(/^To do/);
  await page.locator('.row').nth(1).waitFor();
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('Shift+R');
  await page.getByRole('dialog').waitFor();
  await checkAppearance(t, page, 'moderation-batch');
  await page.keyboard.press('Escape');
});

t.test('continues a search of decided notes until a match', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service, { message: 'The needle in it' });
  await decide(ann, id, 'approve');
  await advanceTime(service, '1 day');
  await service.tamper(insertNotesOfOthers(2 * MAX_SCANNED + 1));
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Decided/ }).click();
  await page.locator('.row').nth(49).waitFor();
  const search = async (words: string) => {
    await page.locator('#search').fill(words);
    await page.keyboard.press('Enter');
  };
  await search('others');
  await page.locator('.matches', { hasText: 'First 50 matches.' }).waitFor();
  await search('needle');
  await page.locator('.row', { hasText: 'The needle in it' }).waitFor();
  await untilEqual(t, () => page.locator('.row').count(), 1);
  await search('no such words');
  await page.getByText('No matches.').waitFor();
  t.equal(
    await page.getByRole('button', { name: 'More' }).count(),
    0,
    'the search reaches the end',
  );
});

t.test('hides no decision and breaks no row on small screens', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { name: 'W'.repeat(40), message: 'A long note. '.repeat(38) });
  const { page } = await openConsole(t, service, ann);
  const right = (box: { x: number; width: number } | null) => (box ? box.x + box.width : 0);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const list = right(await page.locator('.list').boundingBox());
    t.ok(right(await page.locator('.row .age').boundingBox()) <= list, `${width} px`);
  }

  // 1280 by 720 at 200 %.
  await page.setViewportSize({ width: 640, height: 360 });
  await page.locator('.row-main').click();
  const bar = page.locator('.bar');
  await bar.waitFor();
  for (const top of [0, 200]) {
    await page.evaluate(`scrollTo(0, ${top})`);
    const { y, height } = (await bar.boundingBox()) ?? { y: 0, height: 0 };
    t.ok(y + height <= 361 && height <= 60, `one line, ${top} px down: ${y} ${height}`);
  }
  // 1280 by 1024 at 400 %.
  await page.setViewportSize({ width: 320, height: 256 });
  const hidden = (place: string) =>
    page
      .locator(place)
      .evaluate((e) => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight]);
  t.same(await hidden('.bar'), [0, 0], 'every button is visible');
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.locator('.panel').waitFor();
  t.same(await hidden('.panel'), [0, 0], 'only the page scrolls');
  t.equal(
    await page.evaluate('getComputedStyle(document.querySelector(".actions")).position'),
    'static',
  );

  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${service.baseUrl}/moderation/stats`);
  await page.locator('.chart summary').nth(2).waitFor();
  for (const target of await page.locator('.page select, .chart summary').all())
    t.ok(
      ((await target.boundingBox())?.height ?? 0) >= 44,
      'the target is large enough for a finger',
    );
});

t.test(
  'shows tables of figures at their full height, and findings with bars',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    const links = 'Read https://a.example https://b.example https://c.example';
    for (const action of ['approve', 'reject', 'reject'] as const) {
      const { id } = await submit(service, { message: `${links} ${action}` });
      await screenNote(service.core, { note_id: id });
      await decide(ann, id, action);
    }
    const { page } = await visit(t, `${service.baseUrl}/moderation/stats`, {
      expected: /status of 401/,
      viewport: { width: 1280, height: 500 },
    });
    await page.getByLabel('Token').fill(ann.token);
    await page.keyboard.press('Enter');
    const table = page.getByRole('region', { name: 'Moderator' });
    await table.getByRole('rowheader', { name: 'Ann' }).waitFor();
    const [shown, whole] = await table.evaluate((e) => [e.clientHeight, e.scrollHeight]);
    t.equal(shown, whole);
    const findings = page.getByRole('region', { name: 'Finding' });
    const row = findings.getByRole('row', { name: /^Many links/ });
    await row.getByText('66.7%').waitFor();
    const [bar = 0, line = 0] = (await row
      .locator('.meter')
      .evaluate((e) => [
        e.firstElementChild?.getBoundingClientRect().width ?? 0,
        e.clientWidth,
      ])) as number[];
    t.equal(Math.round((100 * bar) / line), 67, 'the bar is as long as the share');
  },
);

t.test('lists older audit entries once', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (let count = 0; count < 60; count++) await decide(ann, (await submit(service)).id, 'approve');
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Audit/ }).click();
  const positions = page.locator('.audit tbody td:first-child');
  await positions.nth(49).waitFor();
  const first = await holdRequest(page, '**/audit?**cursor=**', 'answer');
  const older = page.getByRole('button', { name: 'Older' });
  await older.click();
  await first.arrived;
  await older.click();
  await positions.nth(59).waitFor();
  await first.deliver();
  const shown = await positions.allTextContents();
  t.equal(new Set(shown).size, shown.length);
});
