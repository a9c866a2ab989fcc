import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t, { type Test } from 'tap';
import { wireProxy } from '../../harness/wire-proxy.ts';
import type { RecordedEvent } from '../../services/eventstore/event.ts';
import { type Transaction, wasCommitted } from '../../services/eventstore/outcome.ts';
import { sql } from '../../services/eventstore/sql.ts';
import type { Plan } from '../../services/eventstore/store.ts';
import { NoteSubmission } from '../../services/guestbook/contract.ts';
import { submitPlan } from '../../services/guestbook/submit.ts';
import { StorageUnavailable } from '../../services/postgres/errors.ts';
import { deadline } from '../../services/postgres/patience.ts';
import { testDatabase } from '../harness/database.ts';
import { startService } from '../harness/service.ts';

const newNote = (id: string = randomUUID()) => ({ id, name: 'Ada', message: `Hello from ${id}.` });
type Note = ReturnType<typeof newNote>;

const accepted = ({ id }: Note) => ({ status: 202, body: { status: 'pending_review', id } });
const replayed = ({ id }: Note) => ({ status: 200, body: { status: 'pending_review', id } });

type Known = Awaited<ReturnType<typeof started>>;

async function started(t: Test) {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const { core } = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
  });
  const planOf = (note: Note, open = true) => {
    const config = { ...core.config, guestbookOpen: open };
    return submitPlan({ keys: core.keys, config }, NoteSubmission.parse(note), null);
  };
  const execute = <Answer>(plan: Plan<Answer, string>) => core.store.execute(plan);
  /** Reads nothing but the clock, which is known then for a moment. */
  const look = () => execute({ load: null, decide: () => ({ unchanged: null }) });
  const eventsOf = async (notes: readonly Note[]) => {
    const { rows } = await database.pool.query<{ id: string; xmin: string; at: Date }>(
      `SELECT substr(stream_id, 6) AS id, xmin::text, recorded_at AS at FROM events
       WHERE stream_id = ANY($1) ORDER BY position`,
      [notes.map(({ id }) => `note-${id}`)],
    );
    return rows;
  };
  return { database, proxy, planOf, execute, look, eventsOf };
}

/** A plan, and what its decider was shown, each time. */
function watched<Answer>(plan: Plan<Answer, string>) {
  const shown: number[][] = [];
  const decide: typeof plan.decide = (loaded) => {
    const { notes, receipts } = loaded.rows as { notes: unknown[]; receipts: unknown[] };
    shown.push([notes.length, receipts.length]);
    return plan.decide(loaded);
  };
  return { plan: { ...plan, decide }, shown };
}

/** Executes them in one turn, and again from the start where the clock was forgotten meanwhile. */
async function blindly<Answer>({ look, execute }: Known, make: () => Plan<Answer, string>[]) {
  for (let turn = 1; ; turn++) {
    await look();
    const all = make().map(watched);
    const answers = await Promise.all(all.map(({ plan }) => execute(plan)));
    const shown = all.map((one) => one.shown);
    if (turn === 10 || shown.every(([first]) => first?.every((rows) => rows === 0)))
      return { answers, shown };
  }
}

t.test('what is new is written without a read, at the time of the database', async (t) => {
  const service = await started(t);
  const unreadable = (note: Note) => {
    const plan = service.planOf(note);
    return { ...plan, load: { ...(plan.load as object), notes: sql`SELECT 1 / 0 AS no` } };
  };
  await t.rejects(
    service.execute(unreadable(newNote())),
    { code: '22012' },
    'no clock, so it reads',
  );

  const clock = async () =>
    (await service.database.pool.query('SELECT clock_timestamp() AS now')).rows[0].now as Date;
  const before = await clock();
  let note = newNote();
  for (let turn = 1; turn <= 10; turn++) {
    await service.look();
    note = newNote();
    const answer = await service.execute(unreadable(note)).catch((error) => error.code);
    if (answer === '22012') continue;
    t.same(answer, accepted(note));
    break;
  }
  const [event, ...others] = await service.eventsOf([note]);
  t.same(others, []);
  t.ok(event && before <= event.at && event.at <= (await clock()), String(event?.at));
});

t.test('what is there after all is read, and decided on', async (t) => {
  const service = await started(t);
  const known = newNote();
  t.same(await service.execute(service.planOf(known)), accepted(known));
  let fresh: Note[] = [];
  const { answers, shown } = await blindly(service, () => {
    fresh = [newNote(), newNote()];
    const notes = [...fresh, known, { ...known, message: 'Another.' }];
    return notes.map((note) => service.planOf(note));
  });
  t.same(answers, [...fresh.map(accepted), replayed(known), { refused: 'submission_conflict' }]);
  t.same(shown.slice(2), [
    [
      [0, 0],
      [1, 1],
    ],
    [
      [0, 0],
      [1, 1],
    ],
  ]);
  t.equal((await service.eventsOf([known, ...fresh])).length, 3);
});

t.test('a refusal is no answer before it was read', async (t) => {
  const service = await started(t);
  const known = newNote();
  await service.execute(service.planOf(known));
  const { answers, shown } = await blindly(service, () => [service.planOf(known, false)]);
  t.same(answers, [replayed(known)]);
  t.same(shown, [
    [
      [0, 0],
      [1, 1],
    ],
  ]);
  const refused = await blindly(service, () => [service.planOf(newNote(), false)]);
  t.match(refused.answers, [{ refused: 'admission_closed' }]);
});

t.test('a value that has no form on the wire fails its own command alone', async (t) => {
  const service = await started(t);
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const bad = service.planOf(newNote());
  const spoilt: Plan<unknown, string> = {
    ...bad,
    decide: (loaded) =>
      ({ ...(bad.decide(loaded) as object), rows: [sql`SELECT ${circle}::jsonb`] }) as never,
  };
  const good = newNote();
  await service.look();
  const [failed, answered] = await Promise.allSettled([
    service.execute(spoilt),
    service.execute(service.planOf(good)),
  ]);
  t.equal(failed.status, 'rejected');
  t.match(answered, { status: 'fulfilled', value: accepted(good) });
  await service.look();
  await t.rejects(service.execute(spoilt), TypeError);
  await service.look();
  t.equal((await service.eventsOf([good])).length, 1);
});

t.test('a lost reply to COMMIT is found to have happened by each', async (t) => {
  const service = await started(t);
  const notes = Array.from({ length: 4 }, () => newNote());
  await service.look();
  service.proxy.dropCommitReply('NoteSubmitted');
  const answers = await Promise.all(notes.map((note) => service.execute(service.planOf(note))));
  t.equal(service.proxy.fired(), 1);
  t.same(answers, notes.map(accepted));
  const events = await service.eventsOf(notes);
  t.equal(events.length, 4);
  t.equal(new Set(events.map(({ xmin }) => xmin)).size, 1, 'the transaction whose reply was lost');
});

t.test('a lost COMMIT writes nothing twice', async (t) => {
  const service = await started(t);
  const notes = Array.from({ length: 4 }, () => newNote());
  await service.look();
  service.proxy.dropCommit('NoteSubmitted');
  const answers = await Promise.allSettled(
    notes.map((note) => service.execute(service.planOf(note))),
  );
  t.equal(service.proxy.fired(), 1);
  for (const answer of answers)
    if (answer.status === 'rejected') t.ok(answer.reason instanceof StorageUnavailable);
  const done = notes.filter((_, index) => answers[index]?.status === 'fulfilled');
  t.equal((await service.eventsOf(done)).length, done.length);
  for (const note of notes) await service.execute(service.planOf(note));
  t.equal((await service.eventsOf(notes)).length, notes.length);
});

t.test('a transaction is known by the process that ran it', async (t) => {
  const { database, planOf, execute } = await started(t);
  const note = newNote();
  await execute(planOf(note));
  const { rows } = await database.pool.query<RecordedEvent>(
    'SELECT * FROM events WHERE stream_id = $1',
    [`note-${note.id}`],
  );
  const [written] = rows as [RecordedEvent];
  const never = { ...written, event_id: randomUUID() };
  const client = new pg.Client(database.url);
  client.on('error', () => undefined);
  await client.connect();
  t.teardown(() => client.end());
  const now = async () => (await client.query('SELECT pg_backend_pid() AS pid, now()')).rows[0];
  const { pid, now: begun } = await now();
  const hourBefore = new Date(begun.getTime() - 3_600_000);

  const committed = (transaction: Transaction, event: typeof written) =>
    wasCommitted(database.url, transaction, event, deadline());
  t.equal(await committed({ pid, begun }, written), true);
  t.equal(await committed({ pid, begun: hourBefore }, never), false);
  t.match(await now(), { pid }, 'neither ended it');
  t.equal(await committed({ pid, begun }, never), false);
  await t.rejects(now(), 'what could still commit was ended');
});
