import { hash } from 'node:crypto';
import type pg from 'pg';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Keyed, Once } from '../../../platform/idempotent-calls.ts';
import { conflict, type Refusal, refuse } from '../../../platform/refusal.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import { heldRecords } from '../../../projections/publications/record-reports.ts';
import type { RecordRow } from '../../../projections/publications/records.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { type ClaimRequest, MAX_LEASES } from '../queue/contract.ts';
import { lockModerator } from '../staff/lock-moderator.ts';
import {
  type ClaimResult,
  claimNext,
  leaseWhere,
  limitReached,
  newLeaseIds,
  takeAtOnce,
  takeNext,
} from './claim-next.ts';
import { transactOnce } from './lease-transaction.ts';
import {
  claimedByOther,
  heldBy,
  type Lease,
  type LiveLeases,
  leaseBody,
  leaseKey,
  type NamedLease,
} from './leases.ts';

type ClaimRefusal = Refusal<'not_found' | 'state_conflict'>;

/** Claims all requested items or none; fewer than `count` only if the view has no more. */
export function claim(
  { pool, publicationKinds }: { pool: pg.Pool; publicationKinds: readonly PublicationKind[] },
  call: Keyed<PrincipalOf<'moderator'>>,
  asked: ClaimRequest,
): Promise<Once<Lease[]> | Refusal<'moderator_required' | 'idempotency_conflict'> | ClaimRefusal> {
  const viewer = call.principal;
  const next = (ids: readonly string[]) =>
    claimNext(('view' in asked && asked.view) || 'todo', viewer, ids);
  if ('count' in asked && !call.request.idempotencyKey)
    return takeAtOnce(pool, viewer, next, asked.count);
  // Claims of one moderator wait for each other (`lockModerator`), so that the limit holds.
  const work = (client: pg.PoolClient) =>
    'count' in asked
      ? takeNext(
          async (count) => (await client.query<ClaimResult>(next(newLeaseIds(count)))).rows[0],
          asked.count,
        )
      : takeThese(client, publicationKinds, viewer.moderatorId, theseOf(asked));
  return transactOnce(pool, call, lockModerator(viewer), work, { repeatable: true });
}

/** The requested items, each once by kind and id. */
function theseOf(asked: Exclude<ClaimRequest, { count: number }>): LiveLeases[] {
  const held: LiveLeases[] =
    'subjects' in asked ? asked.subjects : asked.note_ids.map((id) => ({ type: 'note', id }));
  return [...new Map(held.map((one) => [leaseKey(one), one])).values()];
}

type Reviewable = { id: string; state: string; version: number; reviewable: boolean };

const lockNotes = (ids: readonly string[]): Sql =>
  sql`SELECT note_id AS id, state, version, (state IN ('pending', 'approved') OR appeal = 'open'
      OR (state = 'removed' AND erased_at IS NULL)) AS reviewable
    FROM notes WHERE note_id = ANY(${ids}::uuid[]) ORDER BY note_id FOR UPDATE`;

/** Reads and locks items of one kind in the order of their ids; locks a record only if reported. */
async function reviewablesOf(
  client: pg.PoolClient,
  publicationKinds: readonly PublicationKind[],
  type: LiveLeases['type'],
  ids: readonly string[],
): Promise<Reviewable[]> {
  const subject = publicationKinds.find((one) => one.type === type);
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
  publicationKinds: readonly PublicationKind[],
  moderatorId: string,
  wanted: LiveLeases[],
): Promise<Lease[] | ClaimRefusal> {
  // Every call locks in the same order, so that two calls for the same items cannot deadlock.
  const kinds = [...Map.groupBy(wanted, ({ type }) => type)].sort();
  for (const [type, some] of kinds) {
    const ids = some.map(({ id }) => id);
    const found = await reviewablesOf(client, publicationKinds, type, ids);
    if (found.length < ids.length) return refuse('not_found');
    const done = found.find(({ reviewable }) => !reviewable);
    if (done)
      return conflict('wrong_state', {
        ...(type === 'note' ? { note_id: done.id } : { subject: { type, id: done.id } }),
        current_state: done.state,
        current_version: done.version,
      });
  }
  const values = [moderatorId, wanted.map(({ type }) => type), wanted.map(({ id }) => id)];
  await client.query({ ...CLAIM_THESE, values });
  const { rows } = await client.query<NamedLease>(
    sql`SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = ANY(${wanted.map(({ id }) => id)}::uuid[])
        OR l.moderator_id = ${moderatorId} AND l.expires_at > clock_timestamp() ORDER BY l.note_id`,
  );
  const keys = new Set(wanted.map(leaseKey));
  const these = rows.filter((row) => keys.has(leaseKey(heldBy(row))));
  const others = these.find((row) => row.moderator_id !== moderatorId);
  if (others) return claimedByOther(others);
  const mine = rows.filter((row) => row.moderator_id === moderatorId);
  return mine.length > MAX_LEASES ? limitReached() : these.map(leaseBody);
}

/** Leases the free items; `takeThese` then checks that the moderator holds all, and the limit. */
const THESE = `WITH picked AS (SELECT * FROM unnest($2::text[], $3::uuid[])
      AS these (subject_type, note_id)) ${leaseWhere('true')}`;
const CLAIM_THESE = { name: hash('sha1', THESE), text: THESE };

/** Runs a statement on leases, once for each idempotency key; returns the ids of its leases. */
export function changeLeases(
  pool: pg.Pool,
  call: Keyed<PrincipalOf<'moderator'>>,
  statement: Sql,
  options?: { repeatable: boolean },
): Promise<Once<string[]> | Refusal<'moderator_required' | 'idempotency_conflict'>> {
  const work = async (client: pg.PoolClient) => {
    const { rows } = await client.query<{ lease_id: string }>(statement);
    return rows.map((row) => row.lease_id);
  };
  return transactOnce(pool, call, lockModerator(call.principal), work, options);
}
