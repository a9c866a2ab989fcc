import { hash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Once } from '../../../platform/idempotent-calls.ts';
import { isServerError, OutcomeUnconfirmed } from '../../../platform/postgres/errors.ts';
import { pipeline } from '../../../platform/postgres/pipeline.ts';
import { withClient } from '../../../platform/postgres/pool.ts';
import { deadline } from '../../../platform/postgres/request-deadline.ts';
import { conflict, isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import { MAX_LEASES } from '../queue/contract.ts';
import type { ClaimView, Viewer } from '../queue/queue.ts';
import { lockModerator } from '../staff/lock-moderator.ts';
import { nextClaimable } from './claimable-items.ts';
import { untilDone } from './lease-transaction.ts';
import { type Lease, type LeaseRow, leaseBody, releaseLeases } from './leases.ts';

/**
 * Leases the `picked` items to the moderator `$1` if the condition `fits` holds. A live lease on an
 * item stays as it is.
 */
export const leaseWhere = (fits: string, id = 'gen_random_uuid()') => `INSERT INTO note_leases
    (lease_id, subject_type, note_id, moderator_id, claimed_at, expires_at)
  SELECT ${id}, subject_type, note_id, $1, now.at, now.at + interval '5 minutes'
  FROM picked, (SELECT clock_timestamp() AS at) now
  WHERE ${fits}
    AND EXISTS (SELECT FROM moderators WHERE moderator_id = $1 AND state = 'active')
  ORDER BY note_id
  ON CONFLICT (note_id, subject_type) DO UPDATE SET lease_id = excluded.lease_id,
    moderator_id = excluded.moderator_id, claimed_at = excluded.claimed_at,
    expires_at = excluded.expires_at
  WHERE note_leases.expires_at <= clock_timestamp()
  RETURNING lease_id, subject_type, note_id, expires_at`;

const WITHIN_LIMIT = `(SELECT count FROM held) + (SELECT count(*) FROM picked) <= ${MAX_LEASES}`;

/** Takes the lease ids from `$2`, so that a retry can look up a lease by an id known beforehand. */
const GIVEN_ID = '($2::uuid[])[(row_number() OVER (ORDER BY note_id))::int]';

export const newLeaseIds = (count: number): string[] => Array.from({ length: count }, randomUUID);

/**
 * Leases the first free items of a view, one for each id. If another moderator's lease commits
 * while the statement runs, an item is picked but not leased. The caller sees `picked` and retries.
 */
export function claimNext(view: ClaimView, viewer: Viewer, ids: readonly string[]): Sql {
  const text = `WITH picked AS MATERIALIZED (${nextClaimable(view, viewer, ids.length)}),
    held AS (SELECT count(*) FROM note_leases
      WHERE moderator_id = $1 AND expires_at > clock_timestamp()),
    leased AS (${leaseWhere(WITHIN_LIMIT, GIVEN_ID)})
    SELECT (SELECT count(*) FROM picked)::int AS picked, (SELECT count FROM held)::int AS held,
      (SELECT coalesce(json_agg(leased), '[]') FROM leased) AS leased`;
  return { name: hash('sha1', text), text, values: [viewer.moderatorId, ids] };
}

export interface ClaimResult {
  picked: number;
  held: number;
  leased: (Pick<LeaseRow, 'lease_id' | 'subject_type' | 'note_id'> & { expires_at: string })[];
}

/** Answers like `claimNext`, from the leases that exist under these ids. */
function claimedAs(ids: readonly string[]): Sql {
  return sql`SELECT count(*)::int AS picked, 0 AS held, coalesce(json_agg(l), '[]') AS leased
    FROM note_leases l WHERE lease_id = ANY(${ids}::uuid[])`;
}

/** COMMIT need not wait for the disk, because a lease lost in a database crash is claimed again. */
const HASTY = sql`SELECT set_config('synchronous_commit', 'off', true)`;

/** Wraps statements in a transaction; their results follow those of two other statements. */
const inOne = (statements: readonly Sql[]): Sql[] => [
  sql`BEGIN`,
  HASTY,
  ...statements,
  sql`COMMIT`,
];

/**
 * Claims without an idempotency key. There is no receipt, so lock, claim and COMMIT are sent
 * together. Leases made before a refusal are released. If the reply is lost, the retry waits for
 * the lock, looks for the leases by their ids, and claims under the same ids if there are none.
 */
export async function takeAtOnce(
  pool: pg.Pool,
  me: PrincipalOf<'moderator'>,
  next: (ids: readonly string[]) => Sql,
  count: number,
): Promise<Once<Lease[]> | Refusal<'moderator_required' | 'state_conflict'>> {
  const until = deadline();
  const run = (work: (client: pg.PoolClient) => ReturnType<typeof pipeline>) =>
    untilDone(until, () => withClient(pool, until, work), true);
  let proven = true;
  const leased: string[] = [];
  const answer = await takeNext(async (more) => {
    const ids = newLeaseIds(more);
    let lost = false;
    const claimed = await run(async (client) => {
      if (lost) {
        const found = await pipeline(client, inOne([lockModerator(me), claimedAs(ids)]));
        if ((found[3] as unknown as [ClaimResult])[0].picked > 0) return found;
      }
      return pipeline(client, inOne([lockModerator(me), next(ids)])).catch((error: unknown) => {
        lost ||= !isServerError(error);
        return unconfirmed(error);
      });
    });
    proven = claimed[2]?.length === 1;
    const [taken] = (claimed[3] ?? []) as unknown as [ClaimResult];
    leased.push(...taken.leased.map(({ lease_id }) => lease_id));
    return proven ? taken : undefined;
  }, count);
  if (proven && !isRefusal(answer)) return { answer };
  if (leased.length > 0)
    await run((client) =>
      pipeline(client, [releaseLeases(me.moderatorId, leased)]).catch(unconfirmed),
    );
  return isRefusal(answer) ? answer : refuse('moderator_required');
}

/** COMMIT was sent with the other statements, so a lost reply leaves the outcome unknown. */
function unconfirmed(error: unknown): never {
  throw isServerError(error)
    ? error
    : new OutcomeUnconfirmed('the answer to a claim was lost', { cause: error });
}

export async function takeNext(
  ask: (count: number) => Promise<ClaimResult | undefined>,
  count: number,
): Promise<Lease[] | Refusal<'state_conflict'>> {
  const taken: Lease[] = [];
  for (let round = 0; round < 20 && taken.length < count; round++) {
    const { picked, held, leased } = (await ask(count - taken.length)) ?? NONE;
    if (held + picked > MAX_LEASES) return limitReached();
    for (const { expires_at, ...lease } of leased)
      taken.push(leaseBody({ ...lease, expires_at: new Date(expires_at) }));
    if (picked === 0) break;
  }
  return taken;
}

const NONE: ClaimResult = { picked: 0, held: 0, leased: [] };

export function limitReached(): Refusal<'state_conflict'> {
  return conflict('claim_limit', { limit: MAX_LEASES });
}
