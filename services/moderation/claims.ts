import { hash } from 'node:crypto';
import type pg from 'pg';
import { lockModerator } from '../../projections/moderators.ts';
import { isRefusal, type Refusal, refuse } from '../eventstore/decider.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import { unixSeconds } from '../http/schemas.ts';
import { pipeline } from '../pipeline.ts';
import { deadline, types, withClient } from '../postgres.ts';
import { type Keyed, type Once, transactOnce, untilDone } from './once.ts';
import { type ClaimView, freeNotes, type Viewer } from './queue.ts';
import { type ClaimRequest, MOST_LEASES } from './queue-contract.ts';

export interface LeaseRow {
  lease_id: string;
  note_id: string;
  moderator_id: string;
  claimed_at: Date;
  expires_at: Date;
}

/** A lease as the moderator is told of it. */
export interface Lease {
  lease_id: string;
  note_id: string;
  /** Unix seconds. */
  expires_at: number;
}

type ClaimRefusal = Refusal<'not_found' | 'state_conflict'>;

/** A moderator's leases by the database's clock. */
export function liveLeases(moderatorId: string): Sql {
  return sql`SELECT * FROM note_leases WHERE moderator_id = ${moderatorId}
    AND expires_at > clock_timestamp() ORDER BY claimed_at, lease_id`;
}

export function leaseBody({ lease_id, note_id, expires_at }: LeaseRow): Lease {
  return { lease_id, note_id, expires_at: unixSeconds(expires_at) };
}

/** Leases for notes whose rows are locked; a lease that stands is left as it is. */
const LEASE = `INSERT INTO note_leases (lease_id, note_id, moderator_id, claimed_at, expires_at)
  SELECT gen_random_uuid(), note_id, $1, now.at, now.at + interval '5 minutes'
  FROM picked, (SELECT clock_timestamp() AS at) now
  WHERE (SELECT count FROM held) + (SELECT count(*) FROM picked) <= ${MOST_LEASES}
    AND EXISTS (SELECT FROM moderators WHERE moderator_id = $1 AND state = 'active')
  ORDER BY note_id
  ON CONFLICT (note_id) DO UPDATE SET lease_id = excluded.lease_id,
    moderator_id = excluded.moderator_id, claimed_at = excluded.claimed_at,
    expires_at = excluded.expires_at
  WHERE note_leases.expires_at <= clock_timestamp()
  RETURNING lease_id, note_id, expires_at`;

/**
 * The first free notes of a view, leased. Another's lease that was committed since the statement
 * began leaves a note picked but not leased: `picked` tells, and the caller asks again.
 */
function claimNext(view: ClaimView, viewer: Viewer, count: number): Sql {
  const free = freeNotes(view, viewer, count);
  const text = `WITH picked AS MATERIALIZED (${free.text}),
    held AS (SELECT count(*) FROM note_leases
      WHERE moderator_id = $1 AND expires_at > clock_timestamp()),
    leased AS (${LEASE})
    SELECT (SELECT count(*) FROM picked)::int AS picked, (SELECT count FROM held)::int AS held,
      (SELECT coalesce(json_agg(leased), '[]') FROM leased) AS leased`;
  return { name: hash('sha1', text), text, values: free.values };
}

interface Taken {
  picked: number;
  held: number;
  leased: { lease_id: string; note_id: string; expires_at: string }[];
}

/** All that was asked for, or nothing; fewer only where the view holds no more. */
export function claim(
  pool: pg.Pool,
  call: Keyed,
  asked: ClaimRequest,
): Promise<Once<Lease[]> | Refusal<'moderator_required' | 'idempotency_conflict'> | ClaimRefusal> {
  const viewer = call.principal;
  const next = (count: number) =>
    claimNext(('view' in asked && asked.view) || 'todo', viewer, count);
  if ('count' in asked && !call.request.idempotencyKey)
    return takeAtOnce(pool, viewer.moderatorId, next, asked.count);
  // Two claims of one moderator wait for each other, so that the limit holds.
  return transactOnce(pool, call, lockModerator(viewer.moderatorId), (client) =>
    'count' in asked
      ? takeNext(async (count) => (await client.query<Taken>(next(count))).rows[0], asked.count)
      : takeThese(client, viewer.moderatorId, [...new Set(asked.note_ids)]),
  );
}

/** A lease that a crash of the database loses is claimed again. To plan a claim takes as long as it. */
const HASTY = sql`SELECT set_config('synchronous_commit', 'off', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)`;

/**
 * Without a key there is no receipt: lock and claim go as one message, whose end commits them. What
 * was leased before a refusal is given back.
 */
async function takeAtOnce(
  pool: pg.Pool,
  moderatorId: string,
  next: (count: number) => Sql,
  count: number,
): Promise<Once<Lease[]> | Refusal<'moderator_required'> | ClaimRefusal> {
  const until = deadline();
  const run = (statements: readonly Sql[]) =>
    untilDone(until, () =>
      withClient(pool, until, (client) => pipeline(client, statements, types)),
    );
  let active = true;
  const leased: string[] = [];
  const answer = await takeNext(async (more) => {
    const claimed = await run([HASTY, lockModerator(moderatorId), next(more)]);
    active = claimed[1]?.rows.length === 1;
    const taken = active ? (claimed[2]?.rows[0] as Taken) : undefined;
    leased.push(...(taken?.leased ?? []).map(({ lease_id }) => lease_id));
    return taken;
  }, count);
  if (active && !isRefusal(answer)) return { answer };
  if (leased.length > 0) await run([releaseLeases(moderatorId, leased)]);
  return isRefusal(answer) ? answer : refuse('moderator_required');
}

async function takeNext(
  ask: (count: number) => Promise<Taken | undefined>,
  count: number,
): Promise<Lease[] | Refusal<'state_conflict'>> {
  const taken: Lease[] = [];
  for (let round = 0; round < 20 && taken.length < count; round++) {
    const { picked, held, leased } = (await ask(count - taken.length)) ?? NONE;
    if (held + picked > MOST_LEASES) return limitReached();
    for (const { expires_at, ...lease } of leased)
      taken.push({ ...lease, expires_at: unixSeconds(new Date(expires_at)) });
    if (picked === 0) break;
  }
  return taken;
}

const NONE: Taken = { picked: 0, held: 0, leased: [] };

function limitReached(): Refusal<'state_conflict'> {
  return refuse('state_conflict', { reason: 'claim_limit', limit: MOST_LEASES });
}

type Reviewable = { note_id: string; state: string; version: number; reviewable: boolean };

async function takeThese(
  client: pg.PoolClient,
  moderatorId: string,
  noteIds: string[],
): Promise<Lease[] | ClaimRefusal> {
  const notes = await client.query<Reviewable>(
    sql`SELECT note_id, state, version, (state IN ('pending', 'approved') OR appeal = 'open'
        OR (state = 'removed' AND erased_at IS NULL)) AS reviewable
      FROM notes WHERE note_id = ANY(${noteIds}::uuid[]) ORDER BY note_id FOR UPDATE`,
  );
  if (notes.rows.length < noteIds.length) return refuse('not_found');
  const done = notes.rows.find((note) => !note.reviewable);
  if (done)
    return refuse('state_conflict', {
      reason: 'wrong_state',
      note_id: done.note_id,
      current_state: done.state,
      current_version: done.version,
    });
  await client.query(claimThese(moderatorId, noteIds));
  const { rows } = await client.query<LeaseRow & { name: string | null }>(
    sql`SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = ANY(${noteIds}::uuid[]) OR l.moderator_id = ${moderatorId}
        AND l.expires_at > clock_timestamp() ORDER BY l.note_id`,
  );
  const others = rows.find((row) => row.moderator_id !== moderatorId);
  if (others) return claimedByOther(others);
  if (rows.length > MOST_LEASES) return limitReached();
  return rows.filter((row) => noteIds.includes(row.note_id)).map(leaseBody);
}

/** Those of the notes that are free; whether all are the moderator's is looked at afterwards. */
function claimThese(moderatorId: string, noteIds: readonly string[]): Sql {
  const text = `WITH picked AS (SELECT unnest($2::uuid[]) AS note_id),
    held AS (SELECT -${MOST_LEASES * 10} AS count) ${LEASE}`;
  return { name: hash('sha1', text), text, values: [moderatorId, noteIds] };
}

export function claimedByOther(lease: LeaseRow & { name: string | null }) {
  return refuse('state_conflict', {
    reason: 'claimed_by_other',
    note_id: lease.note_id,
    claimed_by: { id: lease.moderator_id, name: lease.name ?? '' },
    claimed_at: lease.claimed_at.toISOString(),
    expires_at: unixSeconds(lease.expires_at),
  });
}

/** Five minutes more, but no more than thirty from the claim. */
export function renewLeases(moderatorId: string, leaseIds: readonly string[]): Sql {
  return sql`UPDATE note_leases SET expires_at = greatest(expires_at,
      least(clock_timestamp() + interval '5 minutes', claimed_at + interval '30 minutes'))
    WHERE lease_id = ANY(${leaseIds}::uuid[]) AND moderator_id = ${moderatorId}
      AND expires_at > clock_timestamp() RETURNING lease_id`;
}

export function releaseLeases(moderatorId: string, leaseIds: readonly string[]): Sql {
  return sql`DELETE FROM note_leases WHERE lease_id = ANY(${leaseIds}::uuid[])
    AND moderator_id = ${moderatorId} RETURNING lease_id`;
}

/** The ids that a statement on leases answers, once for each key. */
export function changeLeases(
  pool: pg.Pool,
  call: Keyed,
  statement: Sql,
): Promise<Once<string[]> | Refusal<'moderator_required' | 'idempotency_conflict'>> {
  return transactOnce(pool, call, lockModerator(call.principal.moderatorId), async (client) => {
    const { rows } = await client.query<{ lease_id: string }>(statement);
    return rows.map((row) => row.lease_id);
  });
}
