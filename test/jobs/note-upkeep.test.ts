import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { asJob } from '../../platform/postgres/request-deadline.ts';
import { createCore } from '../../services/compose.ts';
import { FAST_LANE_RULE } from '../../services/guestbook/fast-approval.ts';
import { closeAppeals } from '../../workers/guestbook/close-appeals.ts';
import { eraseOldNotes } from '../../workers/guestbook/erase-old-notes.ts';
import {
  escalateOverdueNotes,
  queueAlert,
} from '../../workers/moderation/escalate-overdue-notes.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { matchAll } from '../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../support/passing-time.ts';
import { type Service, startService } from '../support/service.ts';

/** Reads every row of every table of the service as text. */
async function readAllRows({ database: { pool } }: Service): Promise<string> {
  const { rows } = await pool.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('public', 'pgboss')`,
  );
  const all = await Promise.all(
    rows.map(({ name }) => pool.query(`SELECT t::text FROM ${name} t`)),
  );
  return all.flatMap(({ rows }) => rows.map(({ t }) => t)).join('\n');
}

t.test('erases text past its retention from events, tables, jobs and logs', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const secret = 'xylophonequartz';
  const sent = await submitAs(service, member, { message: `Here is ${secret}` });
  const kept = await submit(service, { message: 'Stays forever', name: 'Ada' });
  await screenNote(service.core, { note_id: sent.id });
  await decide(ann, kept.id, 'approve');
  await decide(ann, sent.id, 'approve');
  const report = { reason: 'other', details: `It says ${secret}` };
  await service.call('POST', `/api/guestbook/${sent.id}/report`, { body: report });
  const word = { policy: 'spam', message: `No ${secret}` };
  const body = { action: 'remove', expected_version: 3, ...word };
  t.equal((await ann.post(`notes/${sent.id}/decisions`, body)).status, 201);
  t.match(await readAllRows(service), secret);
  await advanceTime(service, '91 days');
  t.equal(
    await eraseOldNotes(service.core),
    0,
    'not before the appeal period has ended in the log',
  );
  t.equal(await closeAppeals(service.core), 1);
  t.equal(await eraseOldNotes(service.core), 1);
  t.equal(await eraseOldNotes(service.core), 0, 'a second run finds nothing');
  t.notMatch(await readAllRows(service), secret);
  t.notMatch(service.logged.join('\n'), secret);
  t.match(await readAllRows(service), 'Stays forever');
  const { item, history } = (await ann.get(`notes/${sent.id}`)).body;
  t.match(item, { text: '', erased: true, state: 'removed', allowed_actions: [] });
  t.equal(history.at(-1).type, 'NoteErased');
});

t.test("keeps a note under appeal, and erases guests' and withdrawn notes on time", async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const appealed = await submitAs(service, member);
  const withdrawn = await submitAs(service, member);
  const guest = await submit(service);
  for (const { id } of [appealed, guest]) await decide(ann, id, 'reject');
  const { cookie } = member;
  const call = (path: string, body: object) =>
    service.call('POST', `/api/guestbook/${path}`, { body, cookie });
  await call(`${appealed.id}/appeal`, { text: 'Please' });
  await call(`${withdrawn.id}/withdraw`, {});
  const erased = async () =>
    (
      await service.database.pool.query(
        'SELECT note_id FROM notes WHERE erased_at IS NOT NULL ORDER BY erased_at',
      )
    ).rows.map(({ note_id }) => note_id);
  await advanceTime(service, '6 days');
  t.equal(await eraseOldNotes(service.core), 0);
  await advanceTime(service, '2 days');
  t.equal(await eraseOldNotes(service.core), 1);
  t.same(await erased(), [withdrawn.id]);
  await advanceTime(service, '90 days');
  t.equal(await closeAppeals(service.core), 0);
  t.equal(await eraseOldNotes(service.core), 1);
  t.same((await erased()).at(-1), guest.id);
  const uphold = { action: 'uphold', expected_version: 3 };
  const bob = await addModerator(service, 'Bob');
  t.equal((await bob.post(`notes/${appealed.id}/decisions`, uphold)).status, 201);
  t.equal(await eraseOldNotes(service.core), 1, 'after the decision the text is erased');
  t.same((await erased()).at(-1), appealed.id);
});

t.test('continues retention over more than a batch in concurrent runs', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  await pool.query(`WITH ids AS (SELECT gen_random_uuid() AS id, n FROM generate_series(1, 1100) n)
    INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor, recorded_at)
    SELECT id, 'note-' || id, v, gen_random_uuid(), CASE v WHEN 1 THEN 'NoteSubmitted' ELSE 'NoteRejected' END,
      CASE v WHEN 1 THEN jsonb_build_object('note_id', id, 'experience', 'service',
        'attribution', 'guest', 'parent_id', null, 'member_id', null)
      ELSE jsonb_build_object('note_id', id, 'policy', 'spam') END,
      CASE v WHEN 1 THEN '{"name": "", "message": "old"}'::jsonb ELSE '{"message": null}'::jsonb END,
      '{"type": "service"}', now()
    FROM ids, generate_series(1, 2) v ORDER BY n, v`);
  await advanceTime(service, '100 days');
  const run = () => asJob(() => eraseOldNotes(service.core));
  const [one, two] = await Promise.all([run(), run()]);
  t.equal(one + two, 1100);
  const { rows } = await pool.query('SELECT count(*)::int FROM events WHERE personal IS NOT NULL');
  t.equal(rows[0].count, 0);
});

/** A POSIX time zone in which summer time ended a week ago: that day had 25 hours. */
function clockJustChanged(): string {
  const DAY_MS = 86_400_000;
  const weekAgo = new Date(Date.now() - 7 * DAY_MS);
  const day =
    Math.floor((weekAgo.getTime() - Date.UTC(weekAgo.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
  return `AAA0BBB-1,J${((day + 265 - 1) % 365) + 1}/0,J${Math.min(day, 365)}/0`;
}

t.test('ends the appeal period after fourteen days across a clock change', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const note = await submitAs(service, await signedIn(service));
  await decide(await addModerator(service, 'Ann'), note.id, 'reject');
  const { pool, url } = service.database;
  const name = new URL(url).pathname.slice(1);
  await pool.query(`ALTER DATABASE ${name} SET timezone = '${clockJustChanged()}'`);
  await advanceTime(service, '335.5 hours');
  const inOtherZone = await createCore(service.core.config, 'abroad');
  t.teardown(() => inOtherZone.close());
  const { rows } = await inOtherZone.pool.query(`SELECT now() - '14 days'::interval
    = now() - '337 hours'::interval AS changed`);
  t.same(rows, [{ changed: true }]);
  t.equal(await closeAppeals(inOtherZone), 0);
  await advanceTime(service, '1 hour');
  t.equal(await closeAppeals(inOtherZone), 1);
});

t.test('escalates a note once after three days of waiting', async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const old = await submit(service);
  await advanceTime(service, '71 hours 59 minutes');
  t.equal(await escalateOverdueNotes(service.core), 0);
  await advanceTime(service, '1 minute');
  const recent = await submit(service);
  await lea.post('claims', { note_ids: [old.id] });
  t.equal(await escalateOverdueNotes(service.core), 0, 'a claimed note is not escalated');
  await lea.post('claims/release', { lease_ids: [(await lea.get('me')).body.leases[0].lease_id] });
  t.equal(await escalateOverdueNotes(service.core), 1);
  t.equal(await escalateOverdueNotes(service.core), 0);
  matchAll(t, (await lea.get('queue')).body.items, [
    { id: old.id, tier: 'lead', version: 2 },
    { id: recent.id, tier: 'normal' },
  ]);
});

t.test('alerts once about a queue older than a day, until it has caught up', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const alerts = async () => {
    const { rows } = await service.database.pool.query(
      `SELECT type, data FROM events WHERE stream_id = 'queue-age' ORDER BY position`,
    );
    return rows;
  };
  const old = await submit(service);
  await advanceTime(service, '23 hours');
  t.equal(await queueAlert(service.core), null);
  await advanceTime(service, '2 hours');
  const late = await submit(service);
  t.same(
    new Set(await Promise.all([queueAlert(service.core), queueAlert(service.core)])),
    new Set(['overdue', null]),
  );
  await advanceTime(service, '25 hours');
  t.equal(await queueAlert(service.core), null, 'no second alert while the first stands');
  matchAll(t, await alerts(), [{ type: 'QueueOverdue', data: { pending: 2, past_due: 1 } }]);
  await decide(ann, old.id, 'approve');
  t.equal(await queueAlert(service.core), null, 'another note is still overdue');
  await decide(ann, late.id, 'reject');
  t.equal(await queueAlert(service.core), 'caught_up');
  await submit(service);
  await advanceTime(service, '25 hours');
  t.equal(await queueAlert(service.core), 'overdue', 'a new wait is a new alert');
  t.equal((await alerts()).length, 3);
});

t.test('notifies the author immediately and once without an undo window', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const note = await submitAs(service, member);
  await decide(ann, note.id, 'reject');
  const body = note;
  const again = await service.call('POST', '/api/guestbook', { body, cookie: member.cookie });
  t.equal(again.body.status, 'not_published');
  const notified = await Promise.all([notifyAuthors(service), notifyAuthors(service)]);
  t.equal(notified[0] + notified[1], 1);
  t.match((await readFeed(service, member.id)).at(-1), {
    type: 'note.rejected',
    subject: note.id,
  });
});

t.test('notifies an author of a removal, and of its end if the removal was known', async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const member = await signedIn(service);
  const note = await submitAs(service, member);
  await decide(ann, note.id, 'approve');
  await advanceTime(service, '11 minutes');
  await notifyAuthors(service);
  const remove = { action: 'remove', expected_version: 2, policy: 'spam' };
  await ann.post(`notes/${note.id}/decisions`, remove);
  const quick = await lea.post(`notes/${note.id}/decisions`, {
    action: 'restore',
    expected_version: 3,
  });
  t.equal(quick.status, 201);
  await advanceTime(service, '11 minutes');
  t.equal(await notifyAuthors(service), 0, 'the author receives no notification');
  await ann.post(`notes/${note.id}/decisions`, { ...remove, expected_version: 4 });
  await advanceTime(service, '11 minutes');
  t.equal(await notifyAuthors(service), 1);
  await lea.post(`notes/${note.id}/decisions`, { action: 'restore', expected_version: 5 });
  await advanceTime(service, '11 minutes');
  t.equal(await notifyAuthors(service), 1);
  const types = (await readFeed(service, member.id)).map(({ type }) => type);
  t.same(types, ['note.submitted', 'note.approved', 'note.removed', 'note.restored']);
});

t.test('approves by the fast-lane rule if enabled, and leaves other notes', async (t) => {
  const service = await startService(t, { FAST_LANE: 'true', UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const screened = async (message: string) => {
    const { id } = await submitAs(service, member, { message });
    await screenNote(service.core, { note_id: id });
    const { item, history } = (await ann.get(`notes/${id}`)).body;
    return { id, state: item.state, last: history.at(-1) };
  };
  for (const message of ['One apple', 'Two pears', 'Three plums', 'Four figs', 'Five limes']) {
    const { id, state } = await screened(message);
    t.equal(state, 'pending');
    await decide(ann, id, 'approve');
  }
  const sixth = await screened('A quiet morning by the river');
  t.match(sixth, {
    state: 'approved',
    last: { actor: { type: 'service' }, data: { rule: FAST_LANE_RULE } },
  });
  t.equal(
    (await screened('Look at http://10.0.0.1/x')).state,
    'pending',
    'a note with a finding waits',
  );
  const seventh = await screened('Another thing entirely');
  const remove = { action: 'remove', expected_version: 2, policy: 'spam' };
  t.equal((await ann.post(`notes/${seventh.id}/decisions`, remove)).status, 201);
  t.equal(
    (await screened('Clouds over the hills')).state,
    'pending',
    'after a removal, notes wait again',
  );
});

t.test('disables the fast lane by default', async (t) => {
  const service = await startService(t);
  t.equal(service.core.config.fastLane, false);
});
