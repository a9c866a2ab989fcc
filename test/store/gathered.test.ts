import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { POLICY_VERSION } from '../../domain/publications/words.ts';
import { type Agent, newAgent } from '../../harness/agent.ts';
import { capturedCommand } from '../../harness/captured-command.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { signedIn } from '../../harness/registration.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { definePlan, type Plan } from '../../platform/eventstore/plan.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { StorageUnavailable } from '../../platform/postgres/errors.ts';
import { sql } from '../../platform/sql.ts';
import { NoteSubmission } from '../../services/guestbook/contract.ts';
import { submitNote } from '../../services/guestbook/submit.ts';
import { testDatabase } from '../support/database.ts';
import { isUnconfirmedError, repeatWhile } from '../support/repeat-while.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { type Service, startService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';

const LIMIT_MS = 3300;
type Author = PrincipalOf<'session'> | null;

const newNote = (id: string = randomUUID()) => ({ id, name: 'Ada', message: `Hello from ${id}.` });
type Note = ReturnType<typeof newNote>;

/** Commands; those started in one turn of the event loop share a transaction. */
function commandsOf({ core, database }: Pick<Service, 'core' | 'database'>) {
  const createCommand = (note: Note, author: Author = null) =>
    capturedCommand((store) => submitNote({ ...core, store }, NoteSubmission.parse(note), author));
  const submit = (note: Note, author: Author = null) =>
    core.store.execute(createCommand(note, author));
  const execute = <Answer>(command: Plan<Answer, string>) => core.store.execute(command);
  const eventsOf = async (notes: readonly Note[]) => {
    const { rows } = await database.pool.query<{ id: string; xmin: string; version: number }>(
      `SELECT substr(stream_id, 6) AS id, xmin::text, stream_version AS version FROM events
       WHERE stream_id = ANY($1) ORDER BY position`,
      [notes.map(({ id }) => `note-${id}`)],
    );
    return rows;
  };
  return { createCommand, submit, execute, eventsOf };
}

const notesOf = (count: number) => Array.from({ length: count }, () => newNote());
const accepted = ({ id }: Note) => ({ status: 202, body: { status: 'pending_review', id } });
const replayed = ({ id }: Note) => ({ status: 200, body: { status: 'pending_review', id } });

async function newAuthor(service: Service) {
  const { id, handle } = await signedIn(service);
  const { rows } = await service.database.pool.query<{ session_id: string }>(
    'SELECT session_id FROM sessions WHERE member_id = $1',
    [id],
  );
  return authorOf(id, rows[0]?.session_id ?? '', handle);
}

const authorOf = (memberId: string, sessionId: string, handle = 'ada') =>
  ({ kind: 'session', memberId, handle, sessionId, expiresAt: new Date() }) as const;

t.test('runs commands of one turn in one transaction, each with its own effects', async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  const { submit, eventsOf } = commandsOf(service);
  const notes = notesOf(22);
  t.same(await Promise.all(notes.map((note) => submit(note))), notes.map(accepted));
  const events = await eventsOf(notes);
  const transactions = [...Map.groupBy(events, ({ xmin }) => xmin).values()]
    .map((some) => some.map(({ id }) => id))
    .sort(([one], [other]) => (one === notes[0]?.id ? -1 : other === notes[0]?.id ? 1 : 0));
  const ids = notes.map(({ id }) => id);
  t.same(
    transactions,
    [ids.slice(0, 11), ids.slice(11)],
    'each of two connections runs one transaction',
  );
  const { rows } = await service.database.pool.query(
    `SELECT n.message FROM notes n JOIN receipts r ON r.key = n.note_id
     WHERE r.reply->>'id' = n.note_id::text`,
  );
  t.same(
    rows.map(({ message }) => message).sort(),
    notes.map(({ message }) => message).sort(),
    'each note has a receipt and a row',
  );
  const { rows: jobs } = await service.database.pool.query(
    `SELECT data FROM pgboss.job WHERE name = 'screen-note'`,
  );
  const jobNotes = jobs.map(({ data }) => data.note_ids);
  t.same(jobNotes.toSorted(), transactions.toSorted(), 'each transaction enqueues one job');
});

t.test('sends a read without values once for all commands of a transaction', async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  await service.database.pool.query(
    'CREATE SEQUENCE reads; GRANT USAGE ON SEQUENCE reads TO PUBLIC',
  );
  const read = (word: string) =>
    service.core.store.execute(
      definePlan({
        load: {
          read: sql<{ turn: number }>`SELECT nextval('reads')::int AS turn`,
          own: sql<{ word: string }>`SELECT ${word}::text AS word`,
          other: sql<{ word: string }>`SELECT 'other' AS word`,
        },
        decide: ({ rows: { read, own, other } }) => ({ unchanged: [...read, ...own, ...other] }),
      }),
    );
  const answered = (word: string, turn: number) => [{ turn }, { word }, { word: 'other' }];

  const answers = await Promise.all(['one', 'two', 'three'].map(read));

  t.same(answers, [answered('one', 1), answered('two', 1), answered('three', 1)]);
  t.same(await read('four'), answered('four', 2), 'a later transaction reads again');
});

t.test('answers refusals and replays among accepted commands', async (t) => {
  const { submit, eventsOf } = commandsOf(await startService(t, { GROUP_COMMIT: 'on' }));
  const [existing, ...notes] = notesOf(4) as [Note, Note, Note, Note];
  await submit(existing);
  const author = authorOf(randomUUID(), randomUUID());
  const foreign = newNote();
  const answers = await Promise.all([
    submit(notes[0]),
    submit({ ...existing, message: 'Another text.' }),
    submit(notes[1]),
    submit(existing),
    submit(foreign, author),
    submit(notes[2]),
  ]);
  t.same(answers, [
    accepted(notes[0]),
    { refused: 'submission_conflict' },
    accepted(notes[1]),
    replayed(existing),
    { refused: 'session_required' },
    accepted(notes[2]),
  ]);
  t.equal((await eventsOf([existing, ...notes, foreign])).length, 4);
});

t.test('replays a command whose original commits between its two reads', async (t) => {
  const { createCommand, submit, execute } = commandsOf(
    await startService(t, { GROUP_COMMIT: 'on' }),
  );
  const note = newNote();
  await submit(note);
  const overtaken = withRead(createCommand(note), { notes: sql`SELECT WHERE false` });
  t.same(await execute(overtaken), replayed(note));
});

/** A command that reads something else beside or instead of what it loads by name. */
function withRead<Answer>(command: Plan<Answer, string>, read: object): Plan<Answer, string> {
  const load = command.load as { command: object };
  return { ...command, load: { ...load, command: { ...load.command, ...read } } };
}

const FAULTS: Record<string, (command: Plan<unknown, string>) => Plan<unknown, string>> = {
  'a statement that fails': (command) => ({
    ...command,
    decide: (loaded) =>
      ({ ...(command.decide(loaded) as object), rows: [sql`SELECT 1 / 0`] }) as never,
  }),
  'a load that fails': (command) => ({ ...command, load: sql`SELECT 1 / 0 AS no` }),
  'a decision that throws': (command) => ({
    ...command,
    decide() {
      throw new Error('a bug');
    },
  }),
  'a value that has no form on the wire': (command) => ({
    ...command,
    decide(loaded) {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      return {
        ...(command.decide(loaded) as object),
        rows: [sql`SELECT ${circle}::jsonb`],
      } as never;
    },
  }),
};
for (const [fault, sabotage] of Object.entries(FAULTS))
  t.test(`${fault} fails its own command and no other`, async (t) => {
    const { createCommand, submit, execute, eventsOf } = commandsOf(
      await startService(t, { GROUP_COMMIT: 'on' }),
    );
    const [first, failing, last] = notesOf(3) as [Note, Note, Note];
    const [before, failed, after] = await Promise.allSettled([
      submit(first),
      execute(sabotage(createCommand(failing) as Plan<unknown, string>)),
      submit(last),
    ]);
    t.equal(failed.status, 'rejected');
    t.same(
      [before, after],
      [first, last].map((note) => ({ status: 'fulfilled', value: accepted(note) })),
    );
    t.same(
      (await eventsOf([first, failing, last])).map(({ id }) => id).sort(),
      [first.id, last.id].sort(),
    );
    t.same(await submit(failing), accepted(failing));
  });

t.test("decides commands of one member in one turn on each other's results", async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  const { submit, eventsOf } = commandsOf(service);
  const [ada, bob] = [await newAuthor(service), await newAuthor(service)];
  const [one, two, other] = notesOf(3) as [Note, Note, Note];
  const [first, second, ...rest] = await Promise.all([
    submit(one, ada),
    submit(one, ada),
    submit(two, ada),
    submit(other, bob),
  ]);
  // The order of two waiting commands is unspecified.
  t.same(
    [first, second].map((answer) => JSON.stringify(answer)).sort(),
    [replayed(one), accepted(one)].map((answer) => JSON.stringify(answer)).sort(),
  );
  t.same(rest, [two, other].map(accepted));
  t.equal((await eventsOf([one, two, other])).length, 3);
  const { rows } = await service.database.pool.query<{ sequence: number; subject_id: string }>(
    `SELECT sequence::int, subject_id FROM feed
     WHERE member_id = $1 AND type = 'note.submitted' ORDER BY sequence`,
    [ada.memberId],
  );
  t.same(rows.map((row) => row.subject_id).sort(), [one.id, two.id].sort());
  t.equal((rows[1]?.sequence ?? 0) - (rows[0]?.sequence ?? 0), 1);
});

t.test('lists concurrent writes of many members in order in each feed', async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  const agents = await Promise.all(Array.from({ length: 12 }, () => newAgent(patient(service))));
  const profile = {
    display_name: 'Ada',
    summary: 'Reads.',
    links: [],
    capabilities: [],
    visibility: 'public',
    publish_consent: true,
    policy_version: POLICY_VERSION,
  };
  const publish = (agent: Agent) => agent.call('POST', '/api/v1/me/profile', profile);
  const answers = await Promise.all([...agents, ...agents].map(publish));
  t.same(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  const { rows: feeds } = await service.database.pool.query(
    `SELECT member_id, array_agg(f.sequence::int ORDER BY f.sequence) AS sequences,
       array_agg(e.stream_version ORDER BY f.sequence) FILTER (WHERE f.type = 'profile.published')
         AS versions, max(h.sequence)::int AS head
     FROM feed f JOIN feed_heads h USING (member_id) JOIN events e USING (event_id)
     GROUP BY member_id`,
  );
  t.equal(feeds.length, agents.length);
  for (const { sequences, versions, head } of feeds)
    t.same({ sequences, versions, head }, { sequences: [1, 2, 3, 4], versions: [1, 2], head: 4 });
  const { rows: budgets } = await service.database.pool.query('SELECT used FROM write_budgets');
  t.same(
    budgets,
    agents.map(() => ({ used: 2 })),
  );
  const { rows } = await service.database.pool.query(
    `SELECT count(DISTINCT xmin::text)::int AS transactions FROM events
     WHERE type = 'ProfilePublished'`,
  );
  t.ok(rows[0]?.transactions < answers.length, `${rows[0]?.transactions} transactions`);
});

t.test('accepts one of many commands for one stream, in one turn and later', async (t) => {
  const { submit, eventsOf } = commandsOf(await startService(t, { GROUP_COMMIT: 'on' }));
  const id = randomUUID();
  const rivals = Array.from({ length: 40 }, (_, index) => ({
    ...newNote(id),
    name: `Ada ${index}`,
  }));
  const [, ...bystanders] = notesOf(6);
  const answers = await Promise.all([...rivals, ...bystanders].map((note) => submit(note)));
  const ofRivals = answers.slice(0, rivals.length).map((answer) => JSON.stringify(answer));
  t.equal(ofRivals.filter((answer) => answer.includes('202')).length, 1);
  t.equal(ofRivals.filter((answer) => answer.includes('submission_conflict')).length, 39);
  t.same(answers.slice(rivals.length), bystanders.map(accepted));
  t.equal((await eventsOf([...bystanders, newNote(id)])).length, 6);
});

t.test('delays no other command for a member or row that is locked elsewhere', async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  const { submit } = commandsOf(service);
  const ada = await newAuthor(service);
  const [adasNote, freeNote, lockedNote] = notesOf(3) as [Note, Note, Note];
  const holder = await service.database.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM feed_heads WHERE member_id = $1 FOR UPDATE', [ada.memberId]);
  await holder.query(
    `INSERT INTO receipts SELECT $1, 'note', $1, '', '', '', NULL, 200, NULL, '{}', now()`,
    [lockedNote.id],
  );
  const waiting = [submit(adasNote, ada), submit(lockedNote)];
  t.same(await submit(freeNote), accepted(freeNote));
  await holder.query('ROLLBACK');
  holder.release();
  t.same(await Promise.all(waiting), [accepted(adasNote), accepted(lockedNote)]);
});

async function startBehindProxy(t: Test) {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
    GROUP_COMMIT: 'on',
  });
  return { proxy, service, ...commandsOf({ core: service.core, database }) };
}

t.test('finds the outcome for each command when the COMMIT reply is lost', async (t) => {
  const { proxy, submit, eventsOf } = await startBehindProxy(t);
  const notes = notesOf(4);
  proxy.dropCommitReply('NoteSubmitted');
  const answers = await Promise.all(notes.map((note) => submit(note)));
  t.equal(proxy.fired(), 1);
  t.same(answers, notes.map(accepted));
  const events = await eventsOf(notes);
  t.equal(events.length, 4);
  t.equal(
    new Set(events.map(({ xmin }) => xmin)).size,
    1,
    'all events belong to the transaction whose reply was lost',
  );
  t.same(await Promise.all(notes.map((note) => submit(note))), notes.map(replayed));
});

t.test('writes nothing twice when the COMMIT of many commands is lost', async (t) => {
  keepRequestTime(t);
  const { proxy, submit, eventsOf } = await startBehindProxy(t);
  let notes = notesOf(6);
  const isLost = (answer: PromiseSettledResult<unknown>) =>
    answer.status === 'rejected' && isUnconfirmedError(answer.reason);
  const attempt = async (turn: number) => {
    notes = notesOf(6);
    proxy.dropCommit('NoteSubmitted');
    const answers = await Promise.allSettled(notes.map((note) => submit(note)));
    t.equal(proxy.fired(), turn);
    return answers;
  };
  const answers = await repeatWhile((found) => found.some(isLost), attempt);
  for (const answer of answers)
    if (answer.status === 'rejected') t.ok(answer.reason instanceof StorageUnavailable);
  const confirmed = notes.filter((_, index) => answers[index]?.status === 'fulfilled');
  t.equal((await eventsOf(confirmed)).length, confirmed.length);
  await Promise.all(notes.map((note) => submit(note)));
  t.equal((await eventsOf(notes)).length, notes.length);
});

t.test('refuses each of many commands in time when the database is silent', async (t) => {
  keepRequestTime(t);
  const { proxy, service, eventsOf } = await startBehindProxy(t);
  const notes = notesOf(20);
  const post = (note: Note) => service.call('POST', '/api/guestbook', { body: note });
  t.equal((await post(newNote())).status, 202);
  proxy.hold();
  const durations: number[] = [];
  const answers = await Promise.all(
    notes.map(async (note) => {
      const stopwatch = startStopwatch();
      const answer = await post(note);
      durations.push(stopwatch());
      return answer;
    }),
  );
  t.same(new Set(answers.map(({ status }) => status)), new Set([503]));
  t.ok(Math.max(...durations) < LIMIT_MS, `${Math.round(Math.max(...durations))} ms`);
  proxy.release();
  for (const note of notes) t.ok([200, 202].includes((await post(note)).status));
  t.equal((await eventsOf(notes)).length, notes.length);
});

t.test(
  'commands that find their members first share a transaction, each with its own effects',
  async (t) => {
    const service = await startService(t, {
      GROUP_COMMIT: 'on',
      LIMIT_BOOTSTRAP_ATTEMPTS: '100',
    });
    const cases = await Promise.all(
      Array.from({ length: 12 }, async () => ({
        id: await createOpenCase(createCaseCommands(await newAgent(service))),
        member: createCaseCommands(await newAgent(service)),
      })),
    );
    const [first, second] = cases as [(typeof cases)[0], (typeof cases)[0]];
    const rival = createCaseCommands(await newAgent(service));
    const answers = await Promise.all([
      ...cases.map(({ id, member }) => member.claim(id, 1)),
      // Both of these lose: the case is another member's, or has another version.
      rival.claim(first.id, 1),
      rival.claim(second.id, 7),
    ]);
    t.same(
      answers.map(({ status }) => status).toSorted(),
      [...cases.map(() => 200), 409, 409].toSorted(),
      'one claim of each case',
    );
    const { rows } = await service.database.pool.query(
      `SELECT count(*)::int AS claims, count(DISTINCT xmin::text)::int AS transactions
     FROM events WHERE type = 'CaseClaimed'`,
    );
    t.equal(rows[0].claims, cases.length);
    t.ok(rows[0].transactions < cases.length, `${rows[0].transactions} transactions`);
  },
);

t.test(
  'decisions on notes share a transaction, except those on one note, or on a note and a reply to it',
  async (t) => {
    const service = await startService(t, { GROUP_COMMIT: 'on' });
    const ann = await addModerator(service, 'Ann');
    const bob = await addModerator(service, 'Bob');
    const notes = await Promise.all(Array.from({ length: 12 }, () => submit(service)));
    const [parent] = notes as [(typeof notes)[0]];
    const approve = ({ id }: { id: string }) => decide(ann, id, 'approve');
    t.equal((await approve(parent)).status, 201);
    const reply = await submit(service, { parent_id: parent.id });
    const others = notes.slice(1);
    const [rival, removed, replied, ...approved] = await Promise.all([
      decide(bob, others[0]?.id ?? '', 'reject'),
      ann.post(`notes/${parent.id}/decisions`, {
        action: 'remove',
        expected_version: 2,
        policy: 'spam',
      }),
      decide(bob, reply.id, 'approve'),
      ...others.map(approve),
    ]);
    t.equal(removed.status, 201);
    t.same(
      [rival, ...approved].map(({ status }) => status).toSorted(),
      [...others.map(() => 201), 409],
      'one decision on each note, also where two decide at the same time',
    );
    const { rows } = await service.database.pool.query<{ note: string; transaction: string }>(
      `SELECT substr(stream_id, 6) AS note, xmin::text AS transaction FROM events
       WHERE type IN ('NoteApproved', 'NoteRejected', 'NoteRemoved') ORDER BY position DESC`,
    );
    const transactionOf = new Map(rows.toReversed().map((row) => [row.note, row.transaction]));
    const ofOthers = new Set(others.map(({ id }) => transactionOf.get(id)));
    t.ok(ofOthers.size < others.length, `${ofOthers.size} transactions`);
    // The reply was approved before its parent was removed, or not at all.
    t.equal(replied.status, transactionOf.has(reply.id) ? 201 : 409);
    t.not(transactionOf.get(reply.id), transactionOf.get(parent.id));
  },
);
