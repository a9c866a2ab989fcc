import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { publishArtifact } from '../../harness/records.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { parseCheckpoint } from '../../platform/tlog/checkpoint.ts';
import { inclusionProof, isIncluded, leafHash } from '../../platform/tlog/merkle.ts';
import { openNote, parseVerifier } from '../../platform/tlog/note.ts';
import { nodeReader, tilePath } from '../../platform/tlog/tiles.ts';
import {
  commitment,
  leafContent,
  provenWords,
  type SealedEvent,
} from '../../services/seal/leaf.ts';
import { sealMetrics } from '../../services/seal/seal-metrics.ts';
import { eventsToSeal, type LeafRow, leavesBetween } from '../../services/seal/tree-store.ts';
import { verifySeal } from '../../services/seal/verify-seal.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { countLockWaits, whileWaitingForLock } from '../support/meanwhile.ts';
import { sealAll, sealNow } from '../support/sealed.ts';
import { type Service, startService } from '../support/service.ts';

const newSealKey = () => randomBytes(32).toString('hex');

const verify = (service: Service) =>
  withConnection(clientConfig(service.database.url, 'test'), verifySeal);

/** Runs a statement as the owner of the tables, without the triggers that protect the log. */
async function tamper(service: Service, statement: string, values: unknown[] = []): Promise<void> {
  // The read models are not those of the log any more.
  await service.tamper('SELECT 1');
  await withConnection(service.database.url, async (client) => {
    await client.query("SET session_replication_role = 'replica'");
    await client.query(statement, values);
  });
}

/** Starts a service with some events of several owners, all sealed. */
async function startSealed(t: Parameters<typeof startService>[0], settings = {}) {
  const service = await startService(t, { SEAL_KEY: newSealKey(), ...settings });
  const agent = await newAgent(service);
  const packet = await publishArtifact(agent, 'Words of the packet');
  const moderator = await addModerator(service, 'Ann');
  for (let count = 0; count < 5; count++)
    await decide(moderator, (await submit(service, { message: `Note ${count}` })).id, 'approve');
  const { sealed } = await sealNow(service.core);
  return { service, agent, packet, moderator, sealed };
}

/** The checkpoint that the service publishes, opened with the keys of the database. */
async function readCheckpoint(service: Service) {
  const { text: note } = await service.call('GET', '/log/checkpoint');
  const { rows } = await service.database.pool.query(
    'SELECT verifiers FROM seal_trees ORDER BY epoch DESC LIMIT 1',
  );
  const keys = rows[0].verifiers.map((text: string) => parseVerifier(text));
  const text = openNote(note, keys);
  const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
  if (!checkpoint) throw new Error(`no checkpoint: ${note}`);
  return checkpoint;
}

/** Reads the nodes of the published tree over HTTP. */
const publishedNodes = (service: Service, size: number) =>
  nodeReader(async (place) => {
    const answer = await fetch(`${service.baseUrl}/log/${tilePath(place)}`);
    return Buffer.from(await answer.arrayBuffer());
  }, size);

const openings = async (service: Service) => {
  const { pool } = service.core;
  const [events, leaves] = [eventsToSeal(0, 1e9), leavesBetween(0, 1e9)];
  const { rows } = await pool.query<SealedEvent>(events.text, events.values);
  const { rows: opened } = await pool.query<LeafRow>(leaves.text, leaves.values);
  return opened.map(({ position, leaf, facts_salt, words_commitment, words_salt }) => {
    const event = rows.find((row) => row.position === position);
    if (!event) throw new Error(`no event at ${position}`);
    return { event, leaf, opening: { facts_salt, words_commitment, words_salt } };
  });
};

t.test('seals what is committed, once, in the order of positions', async (t) => {
  const { service, sealed } = await startSealed(t);
  const { rows } = await service.database.pool.query('SELECT count(*)::int FROM events');
  t.equal(sealed, rows[0].count);
  t.same(await sealNow(service.core), { sealed: 0 });
  const first = await readCheckpoint(service);
  t.equal(first.size, sealed);
  await submit(service);
  t.equal((await sealNow(service.core)).sealed, 1);
  t.equal((await readCheckpoint(service)).size, sealed + 1);
  t.match(await verify(service), { size: sealed + 1, fault: undefined });
});

t.test('each event is in the published tree, with its salts and with no other', async (t) => {
  const { service } = await startSealed(t);
  const { size, root } = await readCheckpoint(service);
  const read = publishedNodes(service, size);
  for (const [leaf, { event, opening }] of (await openings(service)).entries()) {
    const proof = await inclusionProof(read, leaf, size);
    t.ok(isIncluded(leaf, size, leafHash(leafContent(event, opening)), proof, root), event.type);
    const other = { ...opening, facts_salt: randomBytes(16) };
    t.notOk(isIncluded(leaf, size, leafHash(leafContent(event, other)), proof, root), 'a guess');
  }
});

t.test('an event that its owner changes, drops, adds or swaps is found by position', async (t) => {
  const { service } = await startSealed(t);
  const at = 6;
  const { rows } = await service.database.pool.query('SELECT * FROM events WHERE position = $1', [
    at,
  ]);
  const { rows: all } = await service.database.pool.query('SELECT * FROM events');
  const withWords = all.find(({ personal }) => personal !== null)?.position;
  const restore = async () => {
    await tamper(service, 'DELETE FROM events');
    await tamper(
      service,
      `INSERT INTO events OVERRIDING SYSTEM VALUE
       SELECT * FROM jsonb_populate_recordset(NULL::events, $1)`,
      [JSON.stringify(all)],
    );
    t.equal((await verify(service))?.fault, undefined, 'as it was');
  };
  const faults: [what: string, statement: string, position: number | string][] = [
    ['data', `UPDATE events SET data = data || '{"more": 1}' WHERE position = ${at}`, at],
    ['type', `UPDATE events SET type = 'Other' WHERE position = ${at}`, at],
    ['actor', `UPDATE events SET actor = '{"type": "operator"}' WHERE position = ${at}`, at],
    [
      'a microsecond',
      `UPDATE events SET recorded_at = recorded_at + interval '1 microsecond' WHERE position = ${at}`,
      at,
    ],
    ['owner', `UPDATE events SET owner_id = gen_random_uuid() WHERE position = ${at}`, at],
    ['version', `UPDATE events SET stream_version = 99 WHERE position = ${at}`, at],
    ['stream', `UPDATE events SET stream_id = 'note-other' WHERE position = ${at}`, at],
    ['id', `UPDATE events SET event_id = gen_random_uuid() WHERE position = ${at}`, at],
    [
      'words',
      `UPDATE events SET personal = '{"message": "Other"}' WHERE position = ${withWords}`,
      withWords,
    ],
    ['words that go', `UPDATE events SET personal = NULL WHERE position = ${withWords}`, withWords],
    ['a lost event', `DELETE FROM events WHERE position = ${at}`, at],
    [
      'two that swap places',
      `UPDATE events SET position = CASE position WHEN ${at} THEN ${at + 2} ELSE ${at} END
       WHERE position IN (${at}, ${at + 2})`,
      at,
    ],
    [
      'one more event',
      `INSERT INTO events OVERRIDING SYSTEM VALUE SELECT owner_id, stream_id, 1000, ${at},
         gen_random_uuid(), type, data, personal, actor, recorded_at FROM events
       WHERE position = ${at + 1}`,
      at,
    ],
    ['a salt', `UPDATE seal_leaves SET facts_salt = '\\x00' WHERE position = ${at}`, at],
  ];
  t.equal(rows.length, 1);
  for (const [what, statement, position] of faults) {
    if (what === 'two that swap places')
      await tamper(service, 'ALTER TABLE events ALTER position SET GENERATED BY DEFAULT');
    if (what === 'one more event')
      await tamper(service, `DELETE FROM events WHERE position = ${at}`);
    await tamper(service, statement);
    t.match((await verify(service))?.fault, new RegExp(`^position ${position}\\b`), what);
    if (what !== 'a salt') await restore();
  }
});

t.test(
  'nothing is signed once tree and log differ, and doctor and metrics can say why',
  async (t) => {
    const { service, sealed } = await startSealed(t);
    const signed = await readCheckpoint(service);
    await submit(service);
    const { rows } = await service.database.pool.query('SELECT max(position) AS at FROM events');
    await tamper(
      service,
      `UPDATE seal_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) WHERE level = 0`,
    );
    t.match(await sealNow(service.core), { sealed: 0, alert: /stored tree is not the one/ });
    t.same(await readCheckpoint(service), signed, 'the checkpoint stays');
    await tamper(
      service,
      `UPDATE seal_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) WHERE level = 0`,
    );
    t.match(await sealNow(service.core), { sealed: 1, alert: undefined });
    await tamper(service, 'DELETE FROM events WHERE position = $1', [rows[0].at]);
    t.match(await sealNow(service.core), { sealed: 0, alert: /but \d+ were sealed/ });
    const { rows: trees } = await service.database.pool.query(
      'SELECT refusal, size FROM seal_trees',
    );
    t.match(trees, [{ refusal: /events/, size: String(sealed + 1) }]);
  },
);

t.test('nothing is signed for a tree that goes back behind what this process signed', async (t) => {
  const { service } = await startSealed(t);
  const saved = await service.database.pool.query('SELECT * FROM seal_trees');
  const tiles = await service.database.pool.query('SELECT * FROM seal_tiles');
  await submit(service);
  await sealNow(service.core);
  const [tree] = saved.rows;
  await tamper(service, 'UPDATE seal_trees SET size = $1, position = $2, checkpoint = $3', [
    tree.size,
    tree.position,
    tree.checkpoint,
  ]);
  await tamper(service, 'UPDATE seal_tiles SET hashes = $1', [tiles.rows[0].hashes]);
  t.match(await sealNow(service.core), { sealed: 0, alert: /fewer than the/ });
  await tamper(service, 'DELETE FROM seal_trees');
  t.match(await sealNow(service.core), { sealed: 0, alert: /is gone/ });
});

t.test('an erasure erases the salt of the words, and proofs made before it hold', async (t) => {
  const { service, agent } = await startSealed(t);
  const { size, root } = await readCheckpoint(service);
  const before = await openings(service);
  const read = publishedNodes(service, size);
  const proofs = await Promise.all(before.map((_, leaf) => inclusionProof(read, leaf, size)));
  await agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle });
  await eraseMembers({ pool: service.core.pool, store: service.core.store });

  const after = await openings(service);
  const erased = before.flatMap(({ event }, leaf) =>
    event.personal !== null && after[leaf]?.event.personal === null ? [leaf] : [],
  );
  t.ok(erased.length > 1, `${erased.length} events lost their words`);
  const { rows } = await service.database.pool.query(
    `SELECT count(*)::int FROM seal_leaves JOIN events USING (position)
     WHERE personal IS NULL AND words_salt IS NOT NULL`,
  );
  t.equal(rows[0].count, 0, 'no salt is left');
  for (const leaf of erased) {
    const [known, left] = [before[leaf], after[leaf]];
    if (!known || !left) throw new Error('no event');
    const proof = proofs[leaf] ?? [];
    const hash = leafHash(leafContent(known.event, known.opening));
    t.ok(isIncluded(leaf, size, hash, proof, root), 'the proof with the words holds');
    const withoutWords = leafHash(leafContent(left.event, left.opening));
    t.ok(isIncluded(leaf, size, withoutWords, proof, root), 'and so does that of the facts');
    // Someone who knows the words, and has all that the database has left, cannot confirm them.
    const sealed = left.opening.words_commitment?.toString('hex');
    const confirms = (words_salt: Buffer | null) => {
      const words = provenWords(known.event, { ...left.opening, words_salt });
      return words && commitment(words).toString('hex') === sealed;
    };
    t.ok(confirms(known.opening.words_salt), 'with the salt');
    for (const salt of [left.opening.facts_salt, Buffer.alloc(0), left.opening.words_commitment])
      t.notOk(confirms(salt), 'without');
  }
  await sealNow(service.core);
  t.equal((await verify(service))?.fault, undefined);
});

const LOCK = "SELECT pg_advisory_xact_lock(hashtext('seal-log'))";

t.test('an erasure that meets a batch leaves no salt, whichever comes first', async (t) => {
  const { service, agent } = await startSealed(t);
  const { pool } = service.database;
  const newest = async (): Promise<{ at: number; salt: Buffer | null }> => {
    const { rows } = await pool.query(
      `SELECT position AS at, words_salt AS salt FROM events LEFT JOIN seal_leaves USING (position)
       ORDER BY position DESC LIMIT 1`,
    );
    return rows[0];
  };
  const seal = () => sealNow(service.core);

  await publishArtifact(agent, 'Words that go after the batch');
  const { at: first } = await newest();
  let erasure: Promise<unknown> = Promise.resolve();
  await whileWaitingForLock(pool, LOCK, seal, async () => {
    await service.tamper('SELECT 1');
    erasure = pool.query('UPDATE events SET personal = NULL WHERE position = $1', [first]);
    while ((await countLockWaits(pool)) < 2) await sleep(10);
  });
  await erasure;
  t.equal((await newest()).salt, null, 'erased once the batch was sealed');

  await publishArtifact(agent, 'Words that go before the batch');
  const { at: second } = await newest();
  await whileWaitingForLock(pool, LOCK, seal, () =>
    tamper(service, 'UPDATE events SET personal = NULL WHERE position = $1', [second]),
  );
  t.equal((await newest()).salt, null, 'the batch was prepared anew');
  t.equal((await verify(service))?.fault, undefined);
});

t.test('runs that overlap seal each event once, and refuse nothing', async (t) => {
  const { service, sealed } = await startSealed(t);
  await service.tamper(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor,
       recorded_at)
     SELECT gen_random_uuid(), 'member-' || n, 1, gen_random_uuid(), 'Made', '{}',
       '{"type": "service"}', clock_timestamp() FROM generate_series(1, 5000) n`,
  );
  const runs = await Promise.all(Array.from({ length: 4 }, () => sealNow(service.core)));
  t.same(
    runs.map(({ alert }) => alert),
    [undefined, undefined, undefined, undefined],
  );
  t.equal(
    runs.reduce((sum, run) => sum + run.sealed, 0),
    5000,
  );
  t.match(await verify(service), { size: sealed + 5000, fault: undefined });
});

t.test('a restored log has a tree of a new origin, which names the one before', async (t) => {
  const { service } = await startSealed(t);
  const before = await readCheckpoint(service);
  const leaves = await openings(service);
  await service.database.pool.query(
    `INSERT INTO log_epochs (epoch, began_at, position, reason)
     SELECT 2, clock_timestamp(), max(position), 'test' FROM events`,
  );
  await submit(service);
  t.match(await sealNow(service.core), { sealed: before.size + 1 });
  const after = await readCheckpoint(service);
  t.equal(after.origin, before.origin.replace(/1$/, '2'));
  t.same(after.extensions, [
    `previous ${before.origin} ${before.size} ${before.root.toString('base64')}`,
  ]);
  t.same((await openings(service)).slice(0, before.size), leaves, 'with the same salts');
  t.equal((await verify(service))?.fault, undefined);
});

t.test('every key signs, so that keys can be rotated without a gap', async (t) => {
  const { service } = await startSealed(t);
  const { rows } = await service.database.pool.query('SELECT verifiers FROM seal_trees');
  const old = service.core.config.sealKey ?? [];
  const next = randomBytes(32);
  const rotating = { ...service.core, config: { ...service.core.config, sealKey: [next, ...old] } };
  t.same(await sealNow(rotating), { sealed: 0 }, 'without a new event');
  const { text } = await service.call('GET', '/log/checkpoint');
  t.equal(text.split('\n\n')[1]?.trim().split('\n').length, 2);
  t.ok(openNote(text, [parseVerifier(rows[0].verifiers[0]) as never]), 'the old key opens it');
  const rotated = { ...service.core, config: { ...service.core.config, sealKey: [next] } };
  await submit(service);
  t.same(await sealNow(rotated), { sealed: 1 });
  const { rows: after } = await service.database.pool.query('SELECT verifiers FROM seal_trees');
  t.equal(after[0].verifiers.length, 2);
  t.ok(after[0].verifiers.includes(rows[0].verifiers[0]), 'the old key stays listed');
});

t.test('without a key nothing is sealed', async (t) => {
  const service = await startService(t);
  await submit(service);
  t.same(await sealNow(service.core), { sealed: 0 });
  t.equal((await service.call('GET', '/log/checkpoint')).status, 404);
});

t.test(
  'metrics say how far the log is sealed, how much waits, and whether it is refused',
  async (t) => {
    const unsealed = await startService(t);
    const read = async ({ core }: Service) => {
      const registry = new Registry();
      sealMetrics(registry, core.pool, core.config);
      const text = await registry.metrics();
      return Object.fromEntries(
        [...text.matchAll(/^(seal_\w+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
      );
    };
    await submit(unsealed);
    t.same(await read(unsealed), {}, 'nothing of a log that was never sealed');
    const { service } = await startSealed(t);
    const before = await read(service);
    t.match(before, { seal_lag_events: 0, seal_lag_seconds: 0, seal_refused: 0 });
    await submit(service);
    await submit(service);
    const waiting = await read(service);
    t.equal(waiting.seal_lag_events, 2);
    t.ok((waiting.seal_lag_seconds ?? 0) > 0);
    await sealAll(service);
    const { seal_position: position = 0, ...rest } = await read(service);
    t.ok(position > (before.seal_position ?? 0));
    t.same(rest, { seal_lag_events: 0, seal_lag_seconds: 0, seal_refused: 0 });
    await tamper(service, "UPDATE seal_trees SET checkpoint = 'forged'");
    await sealNow(service.core);
    t.equal((await read(service)).seal_refused, 1);
  },
);
