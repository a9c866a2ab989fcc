import { hash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Once } from '../../../platform/idempotency.ts';
import { isServerError, OutcomeUnconfirmed } from '../../../platform/postgres/errors.ts';
import { pipeline } from '../../../platform/postgres/pipeline.ts';
import { withClient } from '../../../platform/postgres/pool.ts';
import { deadline } from '../../../platform/postgres/request-deadline.ts';
import { conflict, isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import { MOST_LEASES } from '../queue/contract.ts';
import type { ClaimView, Viewer } from '../queue/queue.ts';
import { lockProven } from '../staff/lock-moderator.ts';
import { freeOf } from './claimable-items.ts';
import { untilDone } from './lease-transaction.ts';
import { type Lease, type LeaseRow, leaseBody, releaseLeases } from './leases.ts';

/** Leases of the moderator `$1` for what is `picked`, where it `fits`; one that stands is left as it is. */
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

const WITHIN_LIMIT = `(SELECT count FROM held) + (SELECT count(*) FROM picked) <= ${MOST_LEASES}`;

/** Each of those of `$2`, so that a lease can be asked for by an id that is known before. */
const GIVEN_ID = '($2::uuid[])[(row_number() OVER (ORDER BY note_id))::int]';

export const newLeaseIds = (count: number): string[] => Array.from({ length: count }, randomUUID);

/**
 * The first free ones of a view, one for each id, leased. Another's lease that was committed since
 * the statement began leaves one picked but not leased: `picked` tells, and the caller asks again.
 */
export function claimNext(view: ClaimView, viewer: Viewer, ids: readonly string[]): Sql {
  const text = `WITH picked AS MATERIALIZED (${freeOf(view, viewer, ids.length)}),
    held AS (SELECT count(*) FROM note_leases
      WHERE moderator_id = $1 AND expires_at > clock_timestamp()),
    leased AS (${leaseWhere(WITHIN_LIMIT, GIVEN_ID)})
    SELECT (SELECT count(*) FROM picked)::int AS picked, (SELECT count FROM held)::int AS held,
      (SELECT coalesce(json_agg(leased), '[]') FROM leased) AS leased`;
  return { name: hash('sha1', text), text, values: [viewer.moderatorId, ids] };
}

export interface Taken {
  picked: number;
  held: number;
  leased: (Pick<LeaseRow, 'lease_id' | 'subject_type' | 'note_id'> & { expires_at: string })[];
}

/** The same answer, by what stands under these ids. */
function claimedAs(ids: readonly string[]): Sql {
  return sql`SELECT count(*)::int AS picked, 0 AS held, coalesce(json_agg(l), '[]') AS leased
    FROM note_leases l WHERE lease_id = ANY(${ids}::uuid[])`;
}

/** A lease that a crash of the database loses is claimed again. */
const HASTY = sql`SELECT set_config('synchronous_commit', 'off', true)`;

/** The statements of one transaction, after two of its own. */
const inOne = (statements: readonly Sql[]): Sql[] => [
  sql`BEGIN`,
  HASTY,
  ...statements,
  sql`COMMIT`,
];

/**
 * Without a key there is no receipt: lock, claim and COMMIT are sent together. What
 * was leased before a refusal is given back. Where the answer is lost, the next try waits for the
 * lock, looks for the leases by their ids, and claims under the same ids where there are none.
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
        const found = await pipeline(client, inOne([lockProven(me), claimedAs(ids)]));
        if ((found[3] as unknown as [Taken])[0].picked > 0) return found;
      }
      return pipeline(client, inOne([lockProven(me), next(ids)])).catch((error: unknown) => {
        lost ||= !isServerError(error);
        return unconfirmed(error);
      });
    });
    proven = claimed[2]?.length === 1;
    const [taken] = (claimed[3] ?? []) as unknown as [Taken];
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

/** COMMIT was sent with the rest: where its answer is lost, so is whether it was done. */
function unconfirmed(error: unknown): never {
  throw isServerError(error)
    ? error
    : new OutcomeUnconfirmed('the answer to a claim was lost', { cause: error });
}

export async function takeNext(
  ask: (count: number) => Promise<Taken | undefined>,
  count: number,
): Promise<Lease[] | Refusal<'state_conflict'>> {
  const taken: Lease[] = [];
  for (let round = 0; round < 20 && taken.length < count; round++) {
    const { picked, held, leased } = (await ask(count - taken.length)) ?? NONE;
    if (held + picked > MOST_LEASES) return limitReached();
    for (const { expires_at, ...lease } of leased)
      taken.push(leaseBody({ ...lease, expires_at: new Date(expires_at) }));
    if (picked === 0) break;
  }
  return taken;
}

const NONE: Taken = { picked: 0, held: 0, leased: [] };

export function limitReached(): Refusal<'state_conflict'> {
  return conflict('claim_limit', { limit: MOST_LEASES });
}
