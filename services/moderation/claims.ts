import { hash } from 'node:crypto';
import type pg from 'pg';
import { lockModerator } from '../../projections/moderators.ts';
import { heldRecords } from '../../projections/record-reports.ts';
import type { RecordRow } from '../../projections/records.ts';
import { type Refusal, refuse } from '../eventstore/decider.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import type { Subject } from '../subject.ts';
import { freeOf } from './free.ts';
import {
  claimedByOther,
  type Held,
  heldBy,
  keyOf,
  type Lease,
  type LeaseRow,
  leaseBody,
  type NamedLease,
} from './leases.ts';
import { type Keyed, type Once, transactOnce } from './once.ts';
import type { ClaimView, Viewer } from './queue.ts';
import { type ClaimRequest, MOST_LEASES } from './queue-contract.ts';

type ClaimRefusal = Refusal<'not_found' | 'state_conflict'>;

/** Leases for what is picked; a lease that stands is left as it is. */
const LEASE = `INSERT INTO note_leases
    (lease_id, subject_type, note_id, moderator_id, claimed_at, expires_at)
  SELECT gen_random_uuid(), subject_type, note_id, $2, now.at, now.at + interval '5 minutes'
  FROM picked, (SELECT clock_timestamp() AS at) now
  WHERE (SELECT count FROM held) + (SELECT count(*) FROM picked) <= ${MOST_LEASES}
  ORDER BY note_id
  ON CONFLICT (note_id, subject_type) DO UPDATE SET lease_id = excluded.lease_id,
    moderator_id = excluded.moderator_id, claimed_at = excluded.claimed_at,
    expires_at = excluded.expires_at
  WHERE note_leases.expires_at <= clock_timestamp()
  RETURNING lease_id, subject_type, note_id, expires_at`;

/**
 * The first free ones of a view, leased. Another's lease that was committed since the statement
 * began leaves one picked but not leased: `picked` tells, and the caller asks again.
 */
function claimNext(view: ClaimView, viewer: Viewer, count: number): Sql {
  const free = freeOf(view, viewer, count);
  const text = `WITH picked AS MATERIALIZED (${free.text}),
    held AS (SELECT count(*) FROM note_leases
      WHERE moderator_id = $2 AND expires_at > clock_timestamp()),
    leased AS (${LEASE})
    SELECT (SELECT count(*) FROM picked)::int AS picked, (SELECT count FROM held)::int AS held,
      (SELECT coalesce(json_agg(leased), '[]') FROM leased) AS leased`;
  return { name: hash('sha1', text), text, values: free.values };
}

interface Taken {
  picked: number;
  held: number;
  leased: (Pick<LeaseRow, 'lease_id' | 'subject_type' | 'note_id'> & { expires_at: string })[];
}

/** All that was asked for, or nothing; fewer only where the view holds no more. */
export function claim(
  { pool, subjects }: { pool: pg.Pool; subjects: readonly Subject[] },
  call: Keyed,
  asked: ClaimRequest,
): Promise<Once<Lease[]> | Refusal<'moderator_required' | 'idempotency_conflict'> | ClaimRefusal> {
  const viewer = call.principal;
  // Two claims of one moderator wait for each other, so that the limit holds.
  return transactOnce(pool, call, lockModerator(viewer.moderatorId), (client) =>
    'count' in asked
      ? takeNext(client, asked.view ?? 'todo', viewer, asked.count)
      : takeThese(client, subjects, viewer.moderatorId, theseOf(asked)),
  );
}

/** Each once, by kind and id: two calls that want the same take them in the same order. */
function theseOf(asked: Exclude<ClaimRequest, { count: number }>): Held[] {
  const held: Held[] =
    'subjects' in asked ? asked.subjects : asked.note_ids.map((id) => ({ type: 'note', id }));
  return [...new Map(held.map((one) => [keyOf(one), one])).values()];
}

async function takeNext(client: pg.PoolClient, view: ClaimView, viewer: Viewer, count: number) {
  const taken: Lease[] = [];
  for (let round = 0; round < 20 && taken.length < count; round++) {
    const { rows } = await client.query<Taken>(claimNext(view, viewer, count - taken.length));
    const { picked, held, leased } = rows[0] ?? { picked: 0, held: 0, leased: [] };
    if (held + picked > MOST_LEASES) return limitReached();
    for (const { expires_at, ...lease } of leased)
      taken.push(leaseBody({ ...lease, expires_at: new Date(expires_at) }));
    if (picked === 0) break;
  }
  return taken;
}

function limitReached(): Refusal<'state_conflict'> {
  return refuse('state_conflict', { reason: 'claim_limit', limit: MOST_LEASES });
}

type Reviewable = { id: string; state: string; version: number; reviewable: boolean };

const lockNotes = (ids: readonly string[]): Sql =>
  sql`SELECT note_id AS id, state, version, (state IN ('pending', 'approved') OR appeal = 'open'
      OR (state = 'removed' AND erased_at IS NULL)) AS reviewable
    FROM notes WHERE note_id = ANY(${ids}::uuid[]) ORDER BY note_id FOR UPDATE`;

/** Each kind's, locked against decisions where they were reported. */
async function reviewablesOf(
  client: pg.PoolClient,
  subjects: readonly Subject[],
  type: Held['type'],
  ids: readonly string[],
): Promise<Reviewable[]> {
  const subject = subjects.find((one) => one.type === type);
  if (!subject) return (await client.query<Reviewable>(lockNotes(ids))).rows;
  await client.query(heldRecords(subject.type, ids));
  const { rows } = await client.query<RecordRow>(subject.records(ids));
  return rows.map(({ subject_id: id, state, version }) => ({
    id,
    state,
    version,
    reviewable: state !== 'withdrawn',
  }));
}

async function takeThese(
  client: pg.PoolClient,
  subjects: readonly Subject[],
  moderatorId: string,
  wanted: Held[],
): Promise<Lease[] | ClaimRefusal> {
  const kinds = [...Map.groupBy(wanted, ({ type }) => type)].sort();
  for (const [type, some] of kinds) {
    const ids = some.map(({ id }) => id);
    const found = await reviewablesOf(client, subjects, type, ids);
    if (found.length < ids.length) return refuse('not_found');
    const done = found.find(({ reviewable }) => !reviewable);
    if (done)
      return refuse('state_conflict', {
        reason: 'wrong_state',
        ...(type === 'note' ? { note_id: done.id } : { subject: { type, id: done.id } }),
        current_state: done.state,
        current_version: done.version,
      });
  }
  const values = [wanted.map(({ type }) => type), moderatorId, wanted.map(({ id }) => id)];
  await client.query({ ...CLAIM_THESE, values });
  const { rows } = await client.query<NamedLease>(
    sql`SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = ANY(${wanted.map(({ id }) => id)}::uuid[])
        OR l.moderator_id = ${moderatorId} AND l.expires_at > clock_timestamp() ORDER BY l.note_id`,
  );
  const keys = new Set(wanted.map(keyOf));
  const these = rows.filter((row) => keys.has(keyOf(heldBy(row))));
  const others = these.find((row) => row.moderator_id !== moderatorId);
  if (others) return claimedByOther(others);
  const mine = rows.filter((row) => row.moderator_id === moderatorId);
  return mine.length > MOST_LEASES ? limitReached() : these.map(leaseBody);
}

/** Those that are free; whether all are the moderator's is looked at afterwards. */
const THESE = `WITH picked AS (SELECT * FROM unnest($1::text[], $3::uuid[])
      AS these (subject_type, note_id)),
    held AS (SELECT -${MOST_LEASES * 10} AS count) ${LEASE}`;
const CLAIM_THESE = { name: hash('sha1', THESE), text: THESE };

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
