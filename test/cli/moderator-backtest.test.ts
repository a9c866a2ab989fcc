import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { closeAppeals } from '../../workers/guestbook/close-appeals.ts';
import { eraseOldNotes } from '../../workers/guestbook/erase-old-notes.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { operatorEnv, runModeratorCommand } from '../support/moderator-command.ts';
import { advanceTime, notifyAuthors } from '../support/passing-time.ts';
import { type Service, startService } from '../support/service.ts';

/** Texts that a phone, a script or a spammer sends, in the order of their submission. */
const TEXTS = [
  'See http://10.0.0.1 and example.com, shit',
  'Thank you for the observatory 🔭👩🏽‍🚀, we come again',
  '𝓕𝓸𝓵𝓵𝓸𝔀 𝓶𝔂 𝓹𝓪𝓰𝓮',
  'שלום לכולם, ביקור נהדר',
  'Z̷̡̢͖̲̈́̋̓ą̴̛̺̟̊l̵̡̛̦̒g̸̨̛̱͊o̶̧̾',
  'Call +49 30 1234567 or mail me@example.org',
  'BUY NOW BUY NOW BUY NOW BUY NOW',
  'Сheap раyments',
  'left \u202Eright',
  'Just one link: https://example.com/a?b=c',
  '<b>bold</b> [url]x[/url]',
  'Nothing to see here',
];

const run = (service: Service, ...args: string[]) =>
  runModeratorCommand(operatorEnv(service), ['backtest', ...args]);

async function figures(service: Service, ...args: string[]) {
  const { code, stdout, stderr } = await run(service, ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Submits a note and screens it, like a worker. */
async function screened(service: Service, more: object): Promise<string> {
  const { id } = await submit(service, more);
  await screenNote(service.core, { note_id: id });
  return id;
}

t.test('finds again what was recorded of every text', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (const [index, message] of TEXTS.entries()) {
    const id = await screened(service, { message, name: `Ada ${index}` });
    if (index % 2 === 0) await decide(ann, id, index % 4 === 0 ? 'reject' : 'approve');
  }
  // The same text again: what it was compared with counts as it was then.
  const again = await screened(service, { message: TEXTS[0] });
  await decide(ann, again, 'approve');
  const found = await figures(service);
  t.match(found, { notes: 13, known: 13, comparable: 13, reproduced: 13, deviating: [] });
  t.strictSame(found.recorded, found.judged);
  const { bands } = found.judged;
  const sum = (outcome: string) =>
    Object.values<Record<string, number>>(bands).reduce(
      (all, band) => all + (band[outcome] ?? 0),
      0,
    );
  t.same([sum('refused'), sum('public'), sum('undecided')], [3, 4, 6]);
  const code = (wanted: string) =>
    found.findings.find((one: { code: string }) => one.code === wanted);
  t.match(code('same_as_rejected'), { public: 1, refused: 0, lost: 0, gained: 0 });
  t.match(code('same_as_approved'), { public: 0, refused: 0 }, 'no knowledge of what came later');

  const { stdout } = await run(service);
  t.match(stdout, /^Screened +13 notes\nText known +13;.*\nFound again +in 13 of 13 /);
  t.match(stdout, /\nlikely_spam, refused +\d+ +\d+\n/);
  for (const word of ['Ada', 'Thank', 'example.com']) t.notMatch(stdout, word);
});

t.test('names a note in which the rules find something else than was recorded', async (t) => {
  const service = await startService(t);
  const id = await screened(service, { message: 'See http://10.0.0.1' });
  await screened(service, { message: 'A quiet word' });
  const { pool } = service.database;
  const { rows } = await pool.query('SELECT findings FROM note_screenings WHERE note_id = $1', [
    id,
  ]);
  const record = (findings: unknown) =>
    pool.query('UPDATE note_screenings SET findings = $2 WHERE note_id = $1', [
      id,
      JSON.stringify(findings),
    ]);
  await record([{ code: 'links', count: 2 }]);
  const found = await figures(service);
  t.match(found, { comparable: 2, reproduced: 1, deviating: [id] });
  const { stdout } = await run(service);
  t.match(stdout, new RegExp(`\n  not in +${id}\n`));
  t.match(stdout, /\nlink_to_number +2 .* 0 +1\n/, 'found in one note more');
  // As it was, because the log is compared with the read models when a test ends.
  await record(rows[0].findings);
});

t.test('judges by the weights of a file, and counts what they would change', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob', 'lead');
  const member = await signedIn(service);
  const linked = await screened(service, { message: 'Look: https://example.com' });
  await ann.post('leases', { note_ids: [linked] });
  await decide(ann, linked, 'reject');
  // Refused first, and restored by an appeal.
  const appealed = await submitAs(service, member, { message: 'My page: https://example.org' });
  await screenNote(service.core, { note_id: appealed.id });
  await decide(ann, appealed.id, 'reject');
  await notifyAuthors(service);
  const path = `/api/guestbook/${appealed.id}/appeal`;
  const opened = await service.call('POST', path, {
    body: { text: 'Why?' },
    cookie: member.cookie,
  });
  t.equal(opened.status, 202, opened.text);
  const { item } = (await bob.get(`notes/${appealed.id}`)).body;
  const granted = await bob.post(`notes/${appealed.id}/decisions`, {
    action: 'grant',
    expected_version: item.version,
  });
  t.equal(granted.status, 201, granted.text);

  const file = join(t.testdir(), 'weights.json');
  await writeFile(file, JSON.stringify({ points: { links: 5 }, likely_spam: 5 }));
  const found = await figures(service, '--rules', file);
  t.match(found.recorded.bands, {
    look: { refused: 1, public: 1 },
    likely_spam: { refused: 0, public: 0 },
  });
  t.match(found.judged.bands.likely_spam, { refused: 1, public: 1 });
  t.match(found.judged, { restored: 1 });
  t.ok(found.judged.waited > 0);
  t.equal(found.recorded.waited, 0);
  t.equal(found.likely_spam, 5);
  t.match((await run(service, '--rules', file)).stdout, /\nlinks +1 to 5 +1 +1 +50\.0 % +0 +0\n/);

  const day = (await service.database.pool.query('SELECT now()')).rows[0].now as Date;
  const tomorrow = new Date(day.getTime() + 86_400_000).toISOString().slice(0, 10);
  t.equal((await figures(service, '--from', tomorrow)).notes, 0);
  t.equal((await figures(service, '--to', tomorrow)).notes, 2);
});

t.test('counts the recorded findings of an erased text', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const id = await screened(service, { message: 'See http://10.0.0.1' });
  await decide(ann, id, 'reject');
  await advanceTime(service, '91 days');
  await closeAppeals(service.core);
  t.equal(await eraseOldNotes(service.core), 1);
  const found = await figures(service);
  t.match(found, { notes: 1, known: 0, comparable: 0 });
  t.same(found.judged.bands.look.refused, 1);
  t.same(found.judged, found.recorded);
});

t.test('refuses a file or a date that it cannot use', async (t) => {
  const service = await startService(t);
  const dir = t.testdir({
    'words.json': 'links: 2',
    'code.json': '{"points": {"linkz": 2}}',
    'points.json': '{"points": {"links": -1}}',
    'list.json': '[]',
  });
  for (const [args, message] of [
    [['--rules', join(dir, 'none.json')], /none\.json cannot be read \(ENOENT\)\./],
    [['--rules', join(dir, 'words.json')], /words\.json is not JSON\./],
    [
      ['--rules', join(dir, 'code.json')],
      /code\.json does not fit: points: has unknown fields: linkz\./,
    ],
    [['--rules', join(dir, 'points.json')], /points\.json does not fit: points\.links: /],
    [['--rules', join(dir, 'list.json')], /list\.json does not fit: /],
    [['--from', 'yesterday'], /^--from must be a date or an ISO 8601 time with its zone\./],
    [['--to', '2026-13-01'], /^--to must be a date/],
    [['more'], /^Unexpected argument 'more'\./],
  ] as const) {
    const { code, stdout, stderr } = await run(service, ...args);
    t.equal(code, 2, args.join(' '));
    t.equal(stdout, '');
    t.match(stderr, message);
  }
});
