import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import * as screening from '../../domain/guestbook/jobs.ts';
import { RULES_VERSION } from '../../domain/screening/rules.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { startCaller } from '../../platform/jobs/boss.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { rescreen } from '../../services/screening/screening.ts';
import { expireReviewLeases } from '../../workers/moderation/expire-review-leases.ts';
import { screenNote, screenNotes } from '../../workers/screening/screen-note.ts';
import { matchAll } from '../support/match-all.ts';
import { type Service, startService } from '../support/service.ts';

const readJobs = (service: Service) =>
  service.database.pool.query(
    `SELECT data, retry_limit, retry_delay, retry_backoff, dead_letter FROM pgboss.job WHERE name = 'screen-note'`,
  );

/** Runs the enqueued jobs, as a worker would. */
async function runJobs(service: Service): Promise<unknown[]> {
  const { rows } = await readJobs(service);
  const results = [];
  for (const { data } of rows)
    for (const note_id of screening.screenNote.schema.parse(data).note_ids)
      results.push(await screenNote(service.core, { note_id }));
  return results;
}

const readScreenings = async (service: Service) =>
  (
    await service.database.pool.query(
      `SELECT stream_id, stream_version, owner_id, data, personal, actor FROM events
       WHERE type = 'NoteScreened' ORDER BY position`,
    )
  ).rows;

t.test('screens a note by a job of its transaction and explains the result', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { message: 'Shit, see http://10.0.0.1 and example.com' });
  const before = (await ann.get('queue')).body.items[0];
  t.strictSame(before.screening, {
    state: 'pending',
    band: null,
    findings: [],
    rules_version: null,
    screened_at: null,
  });
  t.strictSame((await readJobs(service)).rows, [
    {
      data: { note_ids: [note.id] },
      retry_limit: 2,
      retry_delay: 3,
      retry_backoff: true,
      dead_letter: 'dead-letters',
    },
  ]);

  t.strictSame(await runJobs(service), [true]);
  const { screening, version } = (await ann.get('queue')).body.items[0];
  t.match(screening, { state: 'done', rules_version: RULES_VERSION, screened_at: String });
  t.equal(screening.band, 'likely_spam');
  t.strictSame(screening.findings, [
    {
      code: 'links',
      text: '2 links',
      words: ['http://10.0.0.1', 'example.com'],
      spans: [
        { start: 10, end: 25 },
        { start: 30, end: 41 },
      ],
    },
    {
      code: 'link_to_number',
      text: 'link to a number instead of a name: 1',
      words: ['http://10.0.0.1'],
      spans: [{ start: 10, end: 25 }],
    },
    {
      code: 'profanity',
      text: 'profanity: 1 word',
      words: ['Shit'],
      spans: [{ start: 0, end: 4 }],
    },
  ]);
  t.equal(version, 1, "a screening does not change the note's version");
  t.equal((await decide(ann, note.id, 'approve')).status, 201);

  const [event] = await readScreenings(service);
  t.match(event, {
    stream_id: `screening-${note.id}`,
    owner_id: note.id,
    actor: { type: 'service' },
  });
  t.notMatch(
    JSON.stringify(event.data),
    /shit|example/i,
    'the permanent part of the event holds no text',
  );
});

t.test('names a guest who has the name of a member', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { handle } = await signedIn(service);
  const names = [handle, `@${handle.toUpperCase()}`, `\u200b${handle}\u2060`, 'Former  Member'];
  for (const name of [...names, `${handle}x`, '']) await submit(service, { name });
  await submit(service, { message: `I am ${handle}` });
  await runJobs(service);
  const { items } = (await ann.get('queue')).body;
  const found = items
    .flatMap(({ screening }: { screening: { findings: { code: string }[] } }) => screening.findings)
    .filter(({ code }: { code: string }) => code === 'member_name');
  t.same(found.flatMap(({ words }: { words: string[] }) => words).sort(), names.sort());
  t.match(found[0], { text: 'a guest with the name of a member', spans: [] });
});

t.test('screens a note when it waits again after a decision', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { message: 'See example.com' });
  const { body } = await decide(ann, note.id, 'approve');
  t.strictSame(await runJobs(service), [false]);
  await service.database.pool.query(`DELETE FROM pgboss.job WHERE name = 'screen-note'`);
  await ann.post(`decisions/${body.event_id}/undo`, { expected_version: 2 });
  t.strictSame(await runJobs(service), [true]);
  t.equal((await ann.get('queue?finding=links')).body.items.length, 1);
});

t.test("screens a member's note under its owner, also while it is claimed", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const note = await submit(
    service,
    { attribution: 'member', member_handle: member.handle, name: undefined, message: 'Hello' },
    member.cookie,
  );
  await ann.post('claims', { note_ids: [note.id] });
  t.strictSame(await runJobs(service), [true]);
  t.equal((await readScreenings(service))[0].owner_id, member.id);
  t.match((await ann.get('queue')).body.items[0], {
    screening: { state: 'done', band: 'clear', findings: [] },
    claim: { mine: true },
  });
});

t.test('screens a note once, also concurrently, and ignores a decided note', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { message: 'One' });
  const late = await submit(service, { message: 'Two' });
  await decide(ann, late.id, 'reject');
  const job = { note_id: note.id };
  const done = await Promise.all(Array.from({ length: 6 }, () => screenNote(service.core, job)));
  t.equal(done.filter(Boolean).length, 1);
  t.equal(await screenNote(service.core, job), false);
  t.equal(await screenNote(service.core, { note_id: late.id }), false);
  t.equal(await screenNote(service.core, { note_id: randomUUID() }), false);
  t.equal((await readScreenings(service)).length, 1);
});

t.test('reads decisions again after they could not be read', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const { id: note_id } = await submit(service);
  await pool.query('ALTER TABLE note_decisions RENAME TO elsewhere');
  await t.rejects(screenNote(service.core, { note_id }));
  await pool.query('ALTER TABLE elsewhere RENAME TO note_decisions');
  t.equal(await screenNote(service.core, { note_id }), true);
});

t.test('gives a note that cannot be screened its own job and screens the others', async (t) => {
  const service = await startService(t);
  const notes = [];
  for (const message of ['One', 'Two', 'Three']) notes.push(await submit(service, { message }));
  const note_ids = notes.map(({ id }) => id);
  const { pool } = service.database;
  await pool.query(`DELETE FROM pgboss.job WHERE name = 'screen-note'`);
  await pool.query(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'spoilt'; END $$`);
  await pool.query(`CREATE TRIGGER spoil BEFORE INSERT ON events FOR EACH ROW
    WHEN (NEW.stream_id = 'screening-${note_ids[1]}') EXECUTE FUNCTION spoil()`);

  t.equal(await screenNotes(service.core, { note_ids }, service.logger), 2);
  matchAll(
    t,
    service.logged
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 'warn' || level === 'error'),
    [{ level: 'warn', note_id: note_ids[1], error: { message: /^spoilt$/ } }],
  );
  matchAll(t, (await readJobs(service)).rows, [{ data: { note_ids: [note_ids[1]] } }]);
  t.equal((await readScreenings(service)).length, 2);
  await t.rejects(
    screenNotes(service.core, { note_ids: note_ids.slice(1, 2) }, service.logger),
    /spoilt/,
  );

  await pool.query('DROP TRIGGER spoil ON events');
  const job = { note_ids: note_ids.slice(1, 2) };
  t.equal(await screenNotes(service.core, job, service.logger), 1);
  t.equal((await readScreenings(service)).length, 3);
});

t.test('lets moderators review a note without a worker and shows it as unscreened', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  await service.tamper(`UPDATE notes SET submitted_at = clock_timestamp() - interval '31 seconds'`);
  const [item] = (await ann.get('queue')).body.items;
  t.match(item.screening, { state: 'unavailable', band: null, findings: [] });
  t.strictSame(item.allowed_actions, ['approve', 'reject', 'escalate', 'defer']);
  t.equal((await decide(ann, note.id, 'approve')).status, 201);
});

t.test('rebuilds screenings and fingerprints from the log, row for row', async (t) => {
  const service = await startService(t);
  for (const message of ['One', 'example.com is a fine page to see', 'Oh shit'])
    await submit(service, { message });
  await runJobs(service);
  const tables = async () => {
    const { pool } = service.database;
    const screenings = await pool.query('SELECT * FROM note_screenings ORDER BY note_id');
    const prints = await pool.query('SELECT * FROM note_fingerprints ORDER BY hash, note_id');
    return [screenings.rows, prints.rows];
  };
  const before = await tables();
  t.same(
    before.map((rows) => rows.length),
    [3, 3 + 8],
  );
  await rebuild(service.database.url, catalogue, projections);
  t.strictSame(await tables(), before);
});

t.test('screens waiting notes again once after the rules change', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { message: 'Oh shit' });
  const decided = await submit(service, { message: 'Decided' });
  await runJobs(service);
  await decide(ann, decided.id, 'approve');
  const unseen = await submit(service, { message: 'Never screened' });
  const { pool } = service.database;
  await pool.query(`DELETE FROM pgboss.job WHERE name = 'screen-note'`);
  // Pretend that the screening used older rules.
  await pool.query('ALTER TABLE events DISABLE TRIGGER events_keep_rows');
  await pool.query(`UPDATE events SET data = jsonb_set(data, '{rules_version}', '0')
    WHERE type = 'NoteScreened'`);
  await pool.query('ALTER TABLE events ENABLE TRIGGER events_keep_rows');
  await rebuild(service.database.url, catalogue, projections);

  t.equal(await rescreen(service.core.store), 2);
  t.strictSame(await runJobs(service), [true, true]);
  t.equal(await rescreen(service.core.store), 0);
  const items = (await ann.get('queue')).body.items;
  matchAll(t, items, [
    { id: note.id, screening: { rules_version: RULES_VERSION, findings: [{ code: 'profanity' }] } },
    { id: unseen.id, screening: { state: 'done' } },
  ]);
  t.strictSame(
    (await readScreenings(service))
      .filter(({ stream_id }) => stream_id === `screening-${note.id}`)
      .map(({ stream_version }) => stream_version),
    [1, 2],
  );
});

t.test('deletes expired leases and counts them', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (let count = 0; count < 3; count++) await submit(service);
  await ann.post('claims', { count: 3 });
  const { pool } = service.database;
  await pool.query(`UPDATE note_leases SET expires_at = clock_timestamp()
    WHERE lease_id IN (SELECT lease_id FROM note_leases LIMIT 2)`);
  t.equal(await expireReviewLeases(service.core), 2);
  t.equal(await expireReviewLeases(service.core), 0);
  t.equal((await pool.query('SELECT FROM note_leases')).rowCount, 1);
});

t.test('screens submitted notes in a worker process', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service, { message: 'Two links: example.com and example.org' });
  const key = service.core.config.serverKeys?.[0];
  const worker: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../workers/worker.ts')],
    {
      env: {
        ...INHERITED_ENV,
        DATABASE_URL: service.database.url,
        SERVER_KEYS: `${key?.id}:${Buffer.from(key?.secret ?? '').toString('hex')}`,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  t.teardown(() => worker.kill('SIGKILL'));
  let screening = { state: '', findings: [{ text: '' }] };
  while (screening.state !== 'done') {
    await sleep(100);
    screening = (await ann.get('queue')).body.items[0].screening;
  }
  t.match(screening, { state: 'done', findings: [{ text: '2 links' }] });
  worker.kill('SIGTERM');
  t.equal(await ended, 0);
});

t.test('screens a new note before notes that wait to be screened again', async (t) => {
  const service = await startService(t);
  for (const message of ['One', 'Two', 'Three']) await submit(service, { message });
  await service.database.pool.query(`DELETE FROM pgboss.job WHERE name = 'screen-note'`);
  t.equal(await rescreen(service.core.store), 3);
  const fresh = await submit(service, { message: 'New' });
  const boss = await startCaller(service.database.url, 'test');
  t.teardown(() => boss.stop({ graceful: false }));
  const [first] = await boss.fetch('screen-note');
  t.same(first?.data, { note_ids: [fresh.id] });
  const [second] = await boss.fetch<{ note_ids: string[] }>('screen-note');
  t.equal(second?.data.note_ids.length, 3);
});
