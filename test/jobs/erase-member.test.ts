import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Agent, bootstrap, newAgent, newCredential } from '../../harness/agent.ts';
import { type ApiResponse, readCookie } from '../../harness/api.ts';
import { consent, createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { brief } from '../../harness/packets.ts';
import { assertRebuilt, readModels } from '../../harness/rebuilt.ts';
import { publishCase, report } from '../../harness/records.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { matchAll } from '../support/match-all.ts';
import { operatorEnv } from '../support/moderator-command.ts';
import { rebuildTables, startRebuild } from '../support/rebuild-command.ts';
import { type Service, startService } from '../support/service.ts';
import { tracesInFiles, tracesInTables } from '../support/traces.ts';

const WORKER = join(import.meta.dirname, '../../workers/worker.ts');

/** A unique text, with characters that every encoding writes differently. */
const newText = (what: string) => `${what} "${randomBytes(8).toString('hex')}" <ü> ✓ & 100 %/?`;

/** Creates a member with a session, a profile, a packet and a note of each kind. */
async function createAuthor(service: Service) {
  const agent = await newAgent(service);
  const { id, sign_in_key } = agent;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const texts = { approved: newText('Good'), rejected: newText('Bad'), pending: newText('New') };
  const notes: Record<string, string> = {};
  const published = { summary: newText('About'), packet: newText('Packet') };
  for (const [state, message] of Object.entries(texts)) {
    const attribution = { name: '', attribution: 'member', member_handle: agent.handle };
    const note = await submit(service, { ...attribution, message }, readCookie(login));
    notes[state] = note.id;
    await screenNote(service.core, { note_id: note.id });
  }
  const consent = {
    links: [],
    capabilities: [],
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  };
  const profile = { display_name: 'Me', summary: published.summary, ...consent };
  const { status } = await agent.call('POST', '/api/v1/me/profile', profile);
  const packet = await agent.call('POST', '/api/v1/artifacts', {
    ...brief(),
    summary: published.packet,
  });
  if (status !== 200 || packet.status !== 201) throw new Error('the profile or packet was refused');
  const label = newText('Laptop');
  const labelled = { ...newCredential(), label };
  const bearer = await bootstrap(service, agent, labelled);
  if (bearer.status !== 201) throw new Error(bearer.text);
  await agent.call('GET', '/api/v1/me');
  return {
    ...agent,
    texts,
    label,
    notes,
    published,
    artifactId: packet.body.artifact.id as string,
  };
}

/**
 * Writes texts of a member into an own case and another member's case, and returns the other
 * member's responses meanwhile: each contains the whole case.
 */
async function writeInCases(member: Agent, other: Agent) {
  const words = {
    title: newText('Title'),
    summary: newText('Summary'),
    objective: newText('Objective'),
    criterion: newText('Criterion'),
    work: newText('Work'),
    note: newText('Note'),
    comment: newText('Comment'),
  };
  const [mine, theirs] = [createCaseCommands(member), createCaseCommands(other)];
  const { title, summary, objective, criterion } = words;
  const texts = { title, summary, objective, acceptance_criteria: [criterion] };
  const [own, another] = [await createOpenCase(mine, texts), await createOpenCase(theirs)];
  const exchanges: { path: string; body: object; key: string; answered: ApiResponse }[] = [];
  const post = async (id: string, what: string, body: object) => {
    const [path, key] = [`/api/v1/cases/${id}/${what}`, randomUUID()];
    const answered = await other.call('POST', path, body, { 'idempotency-key': key });
    if (answered.status >= 300) throw new Error(answered.text);
    exchanges.push({ path, body, key, answered });
  };
  await post(own, 'claim', { expected_version: 1 });
  await post(own, 'notes', { message: 'On it', ...consent });
  await mine.note(own, words.note);
  await mine.claim(another, 1);
  await mine.submit(another, 2, { summary: words.work });
  const review = { decision: 'accept', comment: 'Seen', ...consent };
  await post(another, 'reviews', { expected_version: 3, ...review });
  await post(own, 'submissions', { expected_version: 2, summary: 'Theirs', ...consent });
  const mineToReview = { ...review, expected_version: 3, comment: words.comment };
  const reviewed = await member.call('POST', `/api/v1/cases/${own}/reviews`, mineToReview);
  if (reviewed.status !== 201) throw new Error(reviewed.text);
  return { words, exchanges, own, another };
}

/** The replay of a response on a case after the member's erasure. */
function erasedAnswer(body: ApiResponse['body'], memberId: string) {
  const { submission } = body.case;
  const createAuthor = { title: '', summary: '', objective: '', acceptance_criteria: [] };
  return {
    ...body,
    case: {
      ...body.case,
      ...(body.case.author_id === memberId ? createAuthor : {}),
      submission:
        submission?.member_id === memberId ? { ...submission, summary: null } : submission,
    },
  };
}

const remove = (agent: Awaited<ReturnType<typeof newAgent>>, erase_notes: boolean) =>
  agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle, erase_notes });

for (const everything of [false, true])
  t.test(
    `leaves no trace of an erased member${everything ? '' : ', except public notes'}`,
    async (t) => {
      const service = await startService(t);
      const { pool, url } = service.database;
      const ann = await addModerator(service, 'Ann');
      const other = await createAuthor(service);
      const gone = await createAuthor(service);
      await decide(ann, gone.notes.approved ?? '', 'approve');
      const word = newText('Word');
      await ann.post(`notes/${gone.notes.rejected}/decisions`, {
        action: 'reject',
        expected_version: 1,
        policy: 'spam',
        message: word,
      });
      const { words, exchanges } = await writeInCases(gone, other);
      const { approved, rejected, pending } = gone.texts;
      const secrets = [gone.sign_in_key, gone.recovery_key, gone.credential.credential_secret];
      const said = [...Object.values(gone.published), ...Object.values(words)];
      const always = [rejected, pending, word, gone.handle, gone.label, ...said];
      const erased = everything ? [...always, approved] : always;
      t.ok((await tracesInTables(pool, erased)).length > 3, 'the search finds existing texts');
      t.strictSame(await tracesInTables(pool, secrets), [], 'keys are never stored');

      t.equal((await remove(gone, everything)).status, 200);
      for (const path of [`agents/${gone.id}`, `artifacts/${gone.artifactId}`])
        t.equal((await service.call('GET', `/api/v1/${path}`)).status, 410, path);
      t.equal(await eraseMembers(service.core, { member_id: gone.id }), 1);
      t.strictSame(await tracesInTables(pool, erased), []);
      t.strictSame(await tracesInFiles(pool, erased), []);
      for (const text of erased) t.notMatch(service.logged.join(''), text);
      for (const { path, body, key, answered } of exchanges) {
        const again = await other.call('POST', path, body, { 'idempotency-key': key });
        t.equal(again.headers.get('idempotency-replayed'), 'true', path);
        t.equal(again.status, answered.status);
        t.strictSame(again.body, erasedAnswer(answered.body, gone.id), 'everything but the texts');
      }
      const exported = await other.call('GET', '/api/v1/me/export');
      t.equal(exported.status, 200);
      for (const text of erased) t.notOk(exported.text.includes(JSON.stringify(text)), text);

      const kept = everything ? [] : [{ id: gone.notes.approved, name: 'former member' }];
      const shown = await service.call('GET', '/api/guestbook');
      matchAll(t, shown.body.entries, kept);
      if (!everything) t.equal(shown.body.entries[0].message, approved);
      const { rows } = await pool.query(
        `SELECT handle, erased_at IS NOT NULL AS erased FROM members WHERE member_id = $1`,
        [gone.id],
      );
      t.strictSame(rows, [{ handle: null, erased: true }]);
      const left = await pool.query(
        `SELECT (SELECT count(*)::int FROM receipts WHERE reply IS NULL AND bound IS NULL) AS receipts,
        (SELECT count(*)::int FROM sessions WHERE member_id = $1) AS sessions,
        (SELECT count(*)::int FROM write_budgets WHERE member_id = $1) AS budgets,
        (SELECT count(*)::int FROM credential_uses WHERE member_id = $1) AS uses,
        (SELECT count(*)::int FROM handles WHERE member_id = $1) AS handles`,
        [gone.id],
      );
      t.strictSame(left.rows, [{ receipts: 14, sessions: 0, budgets: 0, uses: 0, handles: 1 }]);

      const before = await readModels(pool);
      await rebuild(url, catalogue, projections);
      t.strictSame(await readModels(pool), before, 'a rebuild yields the same tables');
      t.strictSame(await tracesInTables(pool, erased), [], 'a rebuild restores no erased text');
      const others = await pool.query('SELECT FROM notes WHERE message = ANY($1)', [
        Object.values(other.texts),
      ]);
      t.equal(others.rowCount, 3, "other members' notes remain");
    },
  );

/** Saves the replies of receipts; the returned function restores those of one owner, without triggers. */
async function saveReplies(service: Service) {
  const { rows } = await service.database.pool.query(
    `SELECT key, reply::text FROM receipts WHERE operation LIKE 'case.%'`,
  );
  const columns = [rows.map(({ key }) => key), rows.map(({ reply }) => reply)];
  return async (owner: string) => {
    await service.tamper('SELECT 1');
    await withConnection(service.database.url, async (client) => {
      await client.query('SET session_replication_role = replica');
      await client.query(
        `UPDATE receipts r SET reply = k.reply::json FROM unnest($1::uuid[], $2::text[]) k (key, reply)
         WHERE r.key = k.key AND r.owner_id = $3`,
        [...columns, owner],
      );
    });
  };
}

t.test('erases the texts of a receipt that is written during the erasure', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [gone, other] = await Promise.all([createAuthor(service), newAgent(service)]);
  const { words } = await writeInCases(gone, other);
  const restoreReplies = await saveReplies(service);
  await remove(gone, false);
  // A lock on this row stops the erasure after the receipts and before its end.
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM sessions WHERE member_id = $1 FOR UPDATE', [gone.id]);
  const erased = eraseMembers(service.core, { member_id: gone.id });
  while ((await tracesInTables(pool, [words.title, words.work])).length > 0) await sleep(20);
  await restoreReplies(other.id);
  t.ok((await tracesInTables(pool, [words.title, words.work])).length > 1);
  await holder.query('ROLLBACK');
  holder.release();
  t.equal(await erased, 1);
  t.strictSame(await tracesInTables(pool, Object.values(words)), []);
});

t.test('erases a member once, after the deactivation', async (t) => {
  const service = await startService(t);
  const [living, gone, forgotten] = await Promise.all([
    createAuthor(service),
    createAuthor(service),
    createAuthor(service),
  ]);
  t.equal(await eraseMembers(service.core, { member_id: living.id }), 0);
  t.equal(await eraseMembers(service.core, { member_id: randomUUID() }), 0);
  await remove(gone, false);
  await remove(forgotten, false);
  const { id: member_id } = gone;
  await Promise.all([1, 2, 3].map(() => eraseMembers(service.core, { member_id })));
  t.equal(await eraseMembers(service.core, { member_id }), 0, 'a second run finds nothing');
  t.equal(await eraseMembers(service.core), 1, 'the sweep finds a member whose job was lost');
  t.equal(await eraseMembers(service.core), 0);
  const { rows } = await service.database.pool.query(
    `SELECT owner_id FROM events WHERE type = 'MemberErased' ORDER BY position`,
  );
  t.strictSame(
    rows.map((row) => row.owner_id),
    [gone.id, forgotten.id],
  );
});

t.test('erases texts from a rebuild that had already read them', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  const gone = await createAuthor(service);
  const erased = Object.values(gone.texts);
  // The rebuild waits for its swap, with everything read, until the reader's lock is free.
  const reader = await pool.connect();
  await reader.query('BEGIN');
  await reader.query('LOCK TABLE moderators IN ACCESS SHARE MODE');
  const rebuilt = rebuild(url, catalogue, projections);
  for (let read = 0; read === 0; await sleep(20))
    read = await pool
      .query('SELECT count(*)::int AS count FROM rebuild.notes WHERE message IS NOT NULL')
      .then(
        ({ rows }) => rows[0].count,
        () => 0,
      );
  await remove(gone, true);
  await eraseMembers(service.core, { member_id: gone.id });
  await reader.query('COMMIT');
  reader.release();
  await rebuilt;
  t.strictSame(await tracesInTables(pool, [...erased, gone.handle]), []);
});

t.test('drops the tables of a killed rebuild with the next erasure', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const gone = await createAuthor(service);
  const erased = Object.values(gone.texts);
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE moderators IN ACCESS SHARE MODE');
  const command = startRebuild(operatorEnv(service));
  t.teardown(() => command.child.kill('SIGKILL'));
  await command.untilWaits();
  t.equal(await eraseMembers(service.core), 0);
  t.not((await rebuildTables(pool)).length, 0, 'a running rebuild keeps its tables');
  await kill(command.child);
  await holder.query('COMMIT');
  holder.release();
  const lockIsFree = async () =>
    (
      await pool.query(
        "SELECT FROM pg_stat_activity WHERE application_name = 'service rebuild' AND datname = current_database()",
      )
    ).rowCount === 0;
  while (!(await lockIsFree())) await sleep(20);
  t.not((await tracesInTables(pool, erased)).filter((at) => at.startsWith('rebuild.')).length, 0);
  await remove(gone, true);
  t.equal(await eraseMembers(service.core, { member_id: gone.id }), 1);
  t.strictSame(await tracesInTables(pool, [...erased, gone.handle]), []);
  t.same(await rebuildTables(pool), []);
});

t.test('continues an erasure after a worker was killed', async (t) => {
  const keys = `1:${randomBytes(32).toString('hex')}`;
  const service = await startService(t, { SERVER_KEYS: keys });
  const { pool, url } = service.database;
  const gone = await createAuthor(service);
  await service.tamper(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
        recorded_at)
      SELECT $1::uuid, 'word-' || lpad(n::text, 5, '0'), 1, gen_random_uuid(), 'Said', '{}', '{"text": "t"}',
        jsonb_build_object('type', 'member', 'id', $1::text), now()
      FROM generate_series(1, 3000) n`,
    [gone.id],
  );
  const left = async () =>
    (
      await pool.query(`SELECT count(*)::int AS count FROM events
      WHERE stream_id LIKE 'word-%' AND personal IS NOT NULL`)
    ).rows[0].count;
  // A lock on this row stops the erasure there.
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM events WHERE stream_id = 'word-01700' FOR UPDATE`);
  t.equal((await remove(gone, true)).status, 200);

  const worker = spawn(process.execPath, [WORKER], {
    env: { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: keys },
    stdio: 'ignore',
  });
  t.teardown(() => worker.kill('SIGKILL'));
  while ((await left()) > 2000) await sleep(20);
  await kill(worker);
  const stopped = await left();
  t.ok(stopped > 1000 && stopped < 3000, `${stopped} of 3000 words are left`);
  const waiting = await pool.query('SELECT FROM members WHERE erased_at IS NOT NULL');
  t.equal(waiting.rowCount, 0);
  await holder.query('ROLLBACK');
  holder.release();

  t.equal(await eraseMembers(service.core), 1);
  t.equal(await left(), 0);
  t.strictSame(await tracesInTables(pool, [...Object.values(gone.texts), gone.handle]), []);
});

async function kill(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

t.test('erases more notes than one transaction records', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const gone = await newAgent(service);
  await service.tamper(
    `WITH made AS (SELECT gen_random_uuid() AS id FROM generate_series(1, 1200)),
      logged AS (INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data,
          personal, actor, recorded_at)
        SELECT $1::uuid, 'note-' || id, 1, gen_random_uuid(), 'NoteSubmitted', '{}', '{"message": "m"}',
          jsonb_build_object('type', 'member', 'id', $1::text), now() FROM made)
      INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, name, message, state,
          version, submitted_at)
        SELECT id, $1::uuid, $1::uuid, 'service', 'member', '', 'm', 'pending', 1, now() FROM made`,
    [gone.id],
  );
  t.equal((await remove(gone, false)).status, 200);
  t.equal(await eraseMembers(service.core, { member_id: gone.id }), 1);
  t.equal((await pool.query('SELECT FROM notes WHERE erased_at IS NULL')).rowCount, 0);
  const { rows } = await pool.query(
    `SELECT actor->>'type' AS by, count(*)::int FROM events WHERE type = 'NoteErased' GROUP BY 1
     ORDER BY 1`,
  );
  t.strictSame(rows, [
    { by: 'member', count: 30 },
    { by: 'service', count: 1170 },
  ]);
  const left = await pool.query('SELECT FROM events WHERE personal IS NOT NULL');
  t.equal(left.rowCount, 0);
});

t.test('keeps the corrected text of a public note in the log', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const gone = await newAgent(service);
  const { id, handle, sign_in_key } = gone;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const cookie = readCookie(login);
  const note = await submitAs(service, { handle, cookie }, { message: newText('First') });
  const message = newText('Second');
  const corrected = await service.call('POST', `/api/guestbook/${note.id}/correct`, {
    body: { message },
    cookie,
  });
  t.equal(corrected.status, 200);
  const approval = { action: 'approve', expected_version: corrected.body.version };
  t.equal((await ann.post(`notes/${note.id}/decisions`, approval)).status, 201);

  t.equal((await remove(gone, false)).status, 200);
  t.equal(await eraseMembers(service.core, { member_id: id }), 1);

  const shown = await service.call('GET', '/api/guestbook');
  matchAll(t, shown.body.entries, [{ id: note.id, name: 'former member', message }]);
  await assertRebuilt(service.database.pool);
});

t.test("erases a member's texts in others' streams and keeps others' texts", async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [gone, other] = await Promise.all([newAgent(service), newAgent(service)]);
  const say = (owner: string, by: string, text: string) =>
    service.tamper(
      `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
          recorded_at)
        VALUES ($1::uuid, 'case-1', (SELECT count(*) + 1 FROM events WHERE stream_id = 'case-1' AND owner_id = $1::uuid),
          gen_random_uuid(), 'Said', '{}', jsonb_build_object('text', $3::text),
          jsonb_build_object('type', 'member', 'id', $2::text), now())`,
      [owner, by, text],
    );
  const own = newText('Own');
  const elsewhere = newText('Elsewhere');
  const theirs = newText('Theirs');
  await say(gone.id, gone.id, own);
  await say(other.id, gone.id, elsewhere);
  await say(gone.id, other.id, theirs);
  await remove(gone, false);
  await eraseMembers(service.core, { member_id: gone.id });
  t.strictSame(await tracesInTables(pool, [own, elsewhere]), []);
  t.equal((await tracesInTables(pool, [theirs])).length, 1);
});

t.test('keeps columns and indexes with texts out of the statistics', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  const columns = projections
    .flatMap(({ texts }) => texts ?? [])
    .flatMap((text) => text.columns.map((column) => `${text.table}.${column}`));
  const outsideProjections = [
    'events.personal',
    'receipts.reply',
    'receipts.bound',
    'passkeys.name',
    'passkeys.public_key',
    'saved_views.filters',
    'saved_views.name',
  ];
  const all = [...columns, ...outsideProjections].sort();
  const without = async () =>
    (
      await pool.query(
        `SELECT attrelid::regclass || '.' || attname AS name
         FROM pg_attribute JOIN pg_class c ON c.oid = attrelid AND c.relkind = 'r'
         WHERE attstattarget = 0 AND attnum > 0 AND attrelid >= 16384 ORDER BY 1`,
      )
    ).rows.map(({ name }) => name);
  /** Counts indexes over words of texts, and those of them in the statistics. */
  const indexes = async () =>
    (
      await pool.query(
        `SELECT count(DISTINCT indexrelid)::int AS indexes,
             count(*) FILTER (WHERE attstattarget IS DISTINCT FROM 0)::int AS kept
           FROM pg_index JOIN pg_attribute ON attrelid = indexrelid
           JOIN pg_class c ON c.oid = indrelid AND c.relnamespace = 'public'::regnamespace
           WHERE pg_get_indexdef(indexrelid) LIKE '%to_tsvector%'`,
      )
    ).rows[0];
  t.strictSame((await without()).sort(), all);
  t.strictSame(await indexes(), { indexes: 4, kept: 0 });
  await rebuild(url, catalogue, projections);
  t.strictSame((await without()).sort(), all);
  t.strictSame(await indexes(), { indexes: 4, kept: 0 });
});

t.test("erases a reporter's details and a moderator's message with their account", async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const ann = await addModerator(service, 'Ann');
  const [owner, reporter] = [await newAgent(service), await newAgent(service)];
  const theCase = await publishCase(owner);
  const [details, word] = [newText('Details'), newText('Word')];
  await report(reporter, theCase, { details });
  await report(reporter, { type: 'profile', id: owner.id }, { details });
  const path = `subjects/case/${theCase.id}`;
  const removal = { action: 'remove', policy: 'spam', message: word, expected_version: 2 };
  t.equal((await ann.post(`${path}/decisions`, removal)).status, 201);
  t.ok((await tracesInTables(pool, [details])).length > 1);
  await remove(reporter, false);
  await eraseMembers(service.core, { member_id: reporter.id });
  t.strictSame(await tracesInTables(pool, [details]), []);
  t.ok((await tracesInTables(pool, [word])).length > 1);
  const { item, history } = (await ann.get(path)).body;
  matchAll(t, item.reports, [{ member_id: reporter.id, reason: 'spam', details: null }]);
  t.equal(history.find(({ type }: { type: string }) => type === 'RecordReported').text, null);
  await remove(owner, false);
  await eraseMembers(service.core, { member_id: owner.id });
  t.strictSame(await tracesInTables(pool, [word, details]), []);
  t.strictSame(await tracesInFiles(pool, [word, details]), []);
  for (const text of [word, details]) t.notMatch(service.logged.join(''), text);
});
