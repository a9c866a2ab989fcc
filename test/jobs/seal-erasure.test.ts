import { randomBytes } from 'node:crypto';
import t from 'tap';
import { verifyProofs } from '../../cli/verify-proofs.ts';
import { brief } from '../../harness/packets.ts';
import { definePolicy } from '../../platform/eventstore/handle.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { parseCheckpoint } from '../../platform/tlog/checkpoint.ts';
import { consistencyProof, isConsistent } from '../../platform/tlog/merkle.ts';
import { openNote, parseVerifier } from '../../platform/tlog/note.ts';
import { nodeReader } from '../../platform/tlog/tiles.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { deleteAccount } from '../../services/account/delete.ts';
import { accountClosures, catalogue, projections } from '../../services/features.ts';
import { proveEvents } from '../../services/seal/proofs.ts';
import {
  type EventWithLeaf,
  newestTree,
  tilesAt,
  WITH_LEAVES,
} from '../../services/seal/tree-store.ts';
import { verifySeal } from '../../services/seal/verify-seal.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { sealAll } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { tracesInTables } from '../support/traces.ts';

const MEMBERS = 1000;
/** How many commands run at the same time: more would wait for a connection, on a busy machine beyond their deadline. */
const TOGETHER = 10;
/** How many proofs are in a document. */
const PROOFS = 50;
const WORD = 'zanzibarqu';

const service = await startService(t, {
  SEAL_KEY: randomBytes(32).toString('hex'),
});
const { core, database } = service;
const { pool } = database;

interface Member {
  id: string;
  handle: string;
}

async function eachOf<One>(all: readonly One[], run: (one: One) => Promise<unknown>) {
  for (let at = 0; at < all.length; at += TOGETHER)
    await Promise.all(all.slice(at, at + TOGETHER).map(run));
}

const wordsOf = (words: object) => `'${JSON.stringify(words)}'::jsonb`;
const MORE = `'policy_version', 'service-public-v1'`;
const before = (column: string) => `lag(${column}) OVER (ORDER BY n)`;

/** What each member did: the owner, the stream, its version, the type, the data and the words. */
const ACTS = [
  `id, 'member-' || id, 1, 'MemberRegistered',
   jsonb_build_object('handle_hash', md5(id::text) || md5(''), 'handle_key_id', 1),
   jsonb_build_object('handle', handle)`,
  `id, 'artifact-' || packet, 1, 'ArtifactPublished',
   jsonb_build_object('artifact_id', packet, 'author_id', id, 'kind', 'brief', 'supersedes_id', NULL, ${MORE}),
   ${wordsOf({ title: WORD, content_hash: 'h', packet: JSON.stringify(brief({ title: WORD })) })}`,
  `id, 'case-' || opened, 1, 'CaseOpened',
   jsonb_build_object('case_id', opened, 'author_id', id, 'artifact_id', NULL, ${MORE}),
   ${wordsOf({ title: WORD, summary: '-', objective: '-', acceptance_criteria: ['-'] })}`,
  `id, 'note-' || note, 1, 'NoteSubmitted',
   jsonb_build_object('note_id', note, 'experience', 'service', 'attribution', 'member', 'parent_id', NULL,
     'member_id', id),
   ${wordsOf({ name: '', message: WORD })}`,
  // Each reviews the case of the member before.
  `${before('id')}, 'case-' || ${before('opened')}, 2, 'CaseReviewed',
   jsonb_build_object('case_id', ${before('opened')}, 'review_id', gen_random_uuid(),
     'submission_id', gen_random_uuid(), 'member_id', id, 'decision', 'accept', 'binding', false,
     'members', '[]'::jsonb, ${MORE}),
   ${wordsOf({ comment: WORD })}`,
];

/** Writes the log of the members with SQL, and makes the read models from it. One more member stays. */
async function createMembers(): Promise<Member[]> {
  const rows = await withConnection(database.url, async (client) => {
    await client.query(
      `CREATE TEMP TABLE made AS SELECT n, gen_random_uuid() AS id,
         CASE n WHEN 0 THEN 'stays' ELSE '${WORD}_' || n END AS handle, gen_random_uuid() AS packet,
         gen_random_uuid() AS opened, gen_random_uuid() AS note FROM generate_series(0, ${MEMBERS}) n`,
    );
    for (const act of ACTS)
      await client.query(
        `INSERT INTO events (owner_id, stream_id, stream_version, type, data, personal, actor, event_id,
           recorded_at)
         SELECT owner, stream, version, type, data, personal,
           jsonb_build_object('type', 'member', 'id', member), gen_random_uuid(), clock_timestamp()
         FROM (SELECT ${act}, id FROM made) acts (owner, stream, version, type, data, personal, member)
         WHERE owner IS NOT NULL`,
      );
    await client.query(`UPDATE events SET personal = NULL WHERE owner_id IN
      (SELECT id FROM made WHERE n = 0) AND stream_id NOT LIKE 'member-%' AND stream_version = 1`);
    return (await client.query<Member>('SELECT id, handle FROM made WHERE n > 0')).rows;
  });
  await rebuild(database.url, catalogue, projections);
  return rows;
}

/** Deletes an account by the command of the route, which its member has been proven to send. */
async function deleteMember({ id, handle }: Member) {
  const policy = definePolicy({ actor: { type: 'member', id }, lock: [id], load: null });
  const body = { confirm_handle: handle, erase_notes: true };
  const answer = await deleteAccount(
    core.store,
    policy as never,
    accountClosures,
    { memberId: id, handle },
    body,
  );
  if (isRefusal(answer)) throw new Error(String(answer.refused));
}

const verify = () => withConnection(clientConfig(database.url, 'test'), verifySeal);

const read = async <Row>({ text, values }: Sql<Row>) =>
  (await core.pool.query(text, values)).rows as Row[];

async function readTree() {
  const [tree] = await read(newestTree());
  if (!tree) throw new Error('nothing is sealed');
  return tree;
}

const open = (verifiers: readonly string[]) => (note: string) => {
  const text = openNote(
    note,
    verifiers.flatMap((one) => parseVerifier(one) ?? []),
  );
  const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
  if (!checkpoint) throw new Error(`not signed: ${note}`);
  return checkpoint;
};

/** The leaves of events, with what they have of words, as one text. */
const leavesOf = (events: readonly EventWithLeaf[]): string =>
  events.map(({ leaf, words_commitment: words }) => `${leaf} ${words?.toString('hex')}`).join();

/** Every event with its leaf, and proofs of one in eight, with every field, as JSON documents. */
async function proveAll() {
  const tree = await readTree();
  const events = await read<EventWithLeaf>(
    named<EventWithLeaf>(`${WITH_LEAVES} ORDER BY event.position`, [tree.epoch]),
  );
  const documents: string[] = [];
  const proven = events.filter((_, index) => index % 8 === 0);
  for (let at = 0; at < proven.length; at += PROOFS) {
    const proofs = await proveEvents(core.pool, tree, proven.slice(at, at + PROOFS), () => true);
    documents.push(JSON.stringify({ checkpoint: tree.checkpoint, events: proofs }));
  }
  return { tree, events, documents };
}

t.test(
  'an erasure of 1,000 members leaves no word and no salt, and every proof good',
  async (t) => {
    const members = await createMembers();
    await sealAll(service);
    const before = await proveAll();
    t.ok(before.events.length > 5 * MEMBERS, `${before.events.length} events`);
    const verifiers = before.tree.verifiers;

    await eachOf(members, deleteMember);
    t.equal(await eraseMembers(core), MEMBERS);

    t.same(await tracesInTables(pool, [WORD]), [], 'no word is left in any table');
    const { rows: left } = await pool.query(
      `SELECT position::int, words_salt, facts_salt, words_commitment FROM seal_leaves`,
    );
    const kept = new Set(left.flatMap((row) => Object.values(row)).map(String));
    const gone = before.events.filter(({ personal }) => JSON.stringify(personal)?.includes(WORD));
    t.ok(gone.length === 5 * MEMBERS, `${gone.length} events lost their words`);
    t.same(
      gone.filter(({ words_salt }) => words_salt && kept.has(String(words_salt))),
      [],
      'no salt is left',
    );

    await sealAll(service);
    t.equal((await verify())?.fault, undefined);
    const after = await proveAll();
    const [was, is] = [before.tree, after.tree].map(({ checkpoint }) =>
      open(verifiers)(checkpoint),
    );
    if (!was || !is) throw new Error('no checkpoint');
    const nodes = nodeReader(async (place) => {
      const [tile] = await read(tilesAt(after.tree.epoch, [place]));
      return tile?.hashes ?? Buffer.alloc(0);
    }, is.size);
    const proof = await consistencyProof(nodes, was.size, is.size);
    t.ok(isConsistent(was, is, proof), 'the log continues the tree of the proofs made before');
    for (const document of before.documents) verifyProofs(document, open(verifiers));
    for (const document of after.documents) verifyProofs(document, open(verifiers));
    t.equal(
      leavesOf(after.events.slice(0, was.size)),
      leavesOf(before.events),
      'no leaf has changed',
    );
  },
);

t.test('a salt that survives an erasure is found, with its position', async (t) => {
  const { rows } = await pool.query(
    `SELECT position::int AS at FROM events WHERE personal IS NOT NULL ORDER BY position LIMIT 1`,
  );
  await service.tamper('ALTER TABLE events DISABLE TRIGGER events_erase_salt');
  await pool.query('UPDATE events SET personal = NULL WHERE position = $1', [rows[0].at]);
  await service.tamper('ALTER TABLE events ENABLE TRIGGER events_erase_salt');
  t.match((await verify())?.fault, `position ${rows[0].at} (`);
  t.match((await verify())?.fault, 'its words are gone, but not their salt');
});
