import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { lockModerator } from '../../projections/moderators.ts';
import { isRefusal, type Refusal, refuse } from '../eventstore/decider.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import { unixSeconds } from '../http/schemas.ts';
import { deadline, isUnavailable, StorageUnavailable, withClient } from '../postgres.ts';
import { type ClaimRequest, MOST_LEASES } from './contract.ts';

export interface LeaseRow {
  lease_id: string;
  note_id: string;
  moderator_id: string;
  claimed_at: Date;
  expires_at: Date;
}

type ClaimRefusal = Refusal<'moderator_required' | 'not_found' | 'state_conflict'>;

/** A moderator's leases by the database's clock. */
export function liveLeases(moderatorId: string): Sql {
  return sql`SELECT * FROM note_leases WHERE moderator_id = ${moderatorId}
    AND expires_at > clock_timestamp() ORDER BY claimed_at, lease_id`;
}

/**
 * The oldest free notes. Another's lease that was committed since the statement began leaves a
 * note picked but not leased: `picked` tells, and the caller asks again.
 */
function claimNext(moderatorId: string, count: number): Sql {
  return sql`WITH picked AS MATERIALIZED (
      SELECT n.note_id FROM notes n WHERE n.state = 'pending' AND NOT EXISTS (
        SELECT FROM note_leases l WHERE l.note_id = n.note_id AND l.expires_at > clock_timestamp())
      ORDER BY n.submitted_at, n.note_id LIMIT ${count} FOR UPDATE OF n SKIP LOCKED),
    leased AS (
      INSERT INTO note_leases (lease_id, note_id, moderator_id, claimed_at, expires_at)
      SELECT gen_random_uuid(), note_id, ${moderatorId}, now.at, now.at + interval '5 minutes'
      FROM picked, (SELECT clock_timestamp() AS at) now
      ON CONFLICT (note_id) DO UPDATE SET lease_id = excluded.lease_id,
        moderator_id = excluded.moderator_id, claimed_at = excluded.claimed_at,
        expires_at = excluded.expires_at
      WHERE note_leases.expires_at <= clock_timestamp()
      RETURNING note_id)
    SELECT (SELECT count(*) FROM picked)::int AS picked, (SELECT array_agg(note_id) FROM leased) AS leased`;
}

/** These notes, whose rows are locked; a lease that stands is left as it is. */
function claimThese(moderatorId: string, noteIds: readonly string[]): Sql {
  return sql`INSERT INTO note_leases (lease_id, note_id, moderator_id, claimed_at, expires_at)
    SELECT gen_random_uuid(), note_id, ${moderatorId}, now.at, now.at + interval '5 minutes'
    FROM unnest(${noteIds}::uuid[]) note_id, (SELECT clock_timestamp() AS at) now ORDER BY note_id
    ON CONFLICT (note_id) DO UPDATE SET lease_id = excluded.lease_id,
      moderator_id = excluded.moderator_id, claimed_at = excluded.claimed_at,
      expires_at = excluded.expires_at
    WHERE note_leases.expires_at <= clock_timestamp()`;
}

/** The ids of the notes that are the moderator's now. All that was asked for, or nothing. */
export function claim(
  pool: pg.Pool,
  moderatorId: string,
  asked: ClaimRequest,
): Promise<string[] | ClaimRefusal> {
  return transaction(pool, async (client) => {
    // Two claims of one moderator wait for each other, so that the limit holds.
    const { rows } = await client.query(lockModerator(moderatorId));
    if (rows.length === 0) return refuse('moderator_required');
    const claimed =
      'count' in asked
        ? await takeNext(client, moderatorId, asked.count)
        : await takeThese(client, moderatorId, [...new Set(asked.note_ids)]);
    if (isRefusal(claimed)) return claimed;
    const held = await client.query(liveLeases(moderatorId));
    if (held.rows.length > MOST_LEASES)
      return refuse('state_conflict', { reason: 'claim_limit', limit: MOST_LEASES });
    return claimed;
  });
}

async function takeNext(client: pg.PoolClient, moderatorId: string, count: number) {
  const taken: string[] = [];
  for (let round = 0; round < 20 && taken.length < count; round++) {
    const { rows } = await client.query<{ picked: number; leased: string[] | null }>(
      claimNext(moderatorId, count - taken.length),
    );
    const [{ picked, leased } = { picked: 0, leased: null }] = rows;
    taken.push(...(leased ?? []));
    if (picked === 0) break;
  }
  return taken;
}

async function takeThese(
  client: pg.PoolClient,
  moderatorId: string,
  noteIds: string[],
): Promise<string[] | ClaimRefusal> {
  const notes = await client.query<{ note_id: string; state: string; version: number }>(
    sql`SELECT note_id, state, version FROM notes WHERE note_id = ANY(${noteIds}::uuid[])
      ORDER BY note_id FOR UPDATE`,
  );
  if (notes.rows.length < noteIds.length) return refuse('not_found');
  const decided = notes.rows.find((note) => note.state !== 'pending');
  if (decided)
    return refuse('state_conflict', {
      reason: 'wrong_state',
      note_id: decided.note_id,
      current_state: decided.state,
      current_version: decided.version,
    });
  await client.query(claimThese(moderatorId, noteIds));
  const { rows } = await client.query<LeaseRow & { name: string | null }>(
    sql`SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = ANY(${noteIds}::uuid[]) AND l.moderator_id <> ${moderatorId}
      ORDER BY l.note_id LIMIT 1`,
  );
  return rows[0] ? claimedByOther(rows[0]) : noteIds;
}

export function claimedByOther(lease: LeaseRow & { name: string | null }) {
  return refuse('state_conflict', {
    reason: 'claimed_by_other',
    note_id: lease.note_id,
    claimed_by: { id: lease.moderator_id, name: lease.name ?? '' },
    claimed_at: unixSeconds(lease.claimed_at),
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

/** Committed unless it is refused or fails; a deadlock is tried again. */
async function transaction<Answer>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Answer>,
): Promise<Answer> {
  const until = deadline();
  for (;;) {
    try {
      return await once(pool, until, work);
    } catch (error) {
      const race = ['40P01', '40001'].includes((error as { code?: string }).code ?? '');
      if (race && Date.now() + 50 < until) await sleep(10);
      else if (race || isUnavailable(error))
        throw new StorageUnavailable('claim failed', { cause: error });
      else throw error;
    }
  }
}

function once<Answer>(
  pool: pg.Pool,
  until: number,
  work: (client: pg.PoolClient) => Promise<Answer>,
): Promise<Answer> {
  return withClient(pool, until, async (client) => {
    await client.query('BEGIN');
    const answer = await work(client);
    await client.query(isRefusal(answer) ? 'ROLLBACK' : 'COMMIT');
    return answer;
  });
}
