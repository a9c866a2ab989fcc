import { type Command, defineCommand } from '../../../platform/eventstore/handle.ts';
import { TURN } from '../../../platform/postgres/batch-statements.ts';
import { named, type Sql, statementName } from '../../../platform/sql.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { MAX_LEASES } from '../queue/contract.ts';
import type { ClaimView, Viewer } from '../queue/queue.ts';
import { chargeLeases, isUsedUp } from './claim-times.ts';
import { nextClaimable, nextOfMany } from './claimable-items.ts';
import {
  type Lease,
  type LeaseReply,
  type LeaseRow,
  leaseBody,
  leaseWhere,
  limitReached,
  replyWith,
} from './leases.ts';

// The statements that follow are in `load`, and write: a decision that changes nothing rolls them back.

interface NextLeases {
  picked: number;
  held: number;
  leased: (Pick<LeaseRow, 'lease_id' | 'subject_type' | 'note_id'> & { expires_at: string })[];
}

/**
 * Leases the first free items of a view, in one statement; `claimNext` then checks the limit. `openAppeals` is SQL of the
 * open appeals of disabled members.
 */
function leaseNext(
  view: ClaimView,
  me: Viewer,
  count: number,
  openAppeals: string,
): Sql<NextLeases> {
  const statement = named<NextLeases>(
    `WITH picked AS MATERIALIZED (${nextClaimable(view, me, count, openAppeals)}),
      held AS (SELECT count(*) FROM note_leases
        WHERE moderator_id = $1 AND ${isLiveLease()}),
      leased AS (${leaseWhere('$1')}),
      charged AS (${chargeLeases('leased')})
    SELECT (SELECT count(*) FROM picked)::int AS picked, (SELECT count FROM held)::int AS held,
      (SELECT coalesce(json_agg(leased), '[]') FROM leased) AS leased`,
    [me.moderatorId],
  );
  return view === 'todo' && count === 1
    ? { ...statement, many: leaseForMany(me), writes: hasLeased }
    : statement;
}

const hasLeased = (rows: readonly NextLeases[]): boolean =>
  rows.some(({ leased }) => leased.length > 0);

/**
 * Leases the first unclaimed notes to several moderators of one role, one to each, in their order. A moderator who gets none
 * (because of the limit, the time used up for that note, or the claims of others) has the row of one who lost it to
 * others, and so claims again, alone; unless no note is left at all.
 */
export function leaseForMany(viewer: Viewer): { name: string; text: string } {
  const text = `WITH given AS MATERIALIZED (SELECT * FROM unnest($1::uuid[])
        WITH ORDINALITY given (moderator_id, turn)),
      free AS MATERIALIZED (SELECT moderator_id, row_number() OVER (ORDER BY turn) AS place FROM given
        WHERE (SELECT count(*) FROM note_leases l
          WHERE l.moderator_id = given.moderator_id AND ${isLiveLease('l')}) < ${MAX_LEASES}),
      first AS MATERIALIZED (SELECT *, row_number() OVER () AS place
        FROM (${nextOfMany(viewer, '(SELECT count(*) FROM free)')}) notes),
      picked AS MATERIALIZED (SELECT * FROM free JOIN first USING (place)),
      leased AS (${leaseWhere('picked.moderator_id', `(${isUsedUp('spent')}) IS NOT TRUE`)}),
      charged AS (${chargeLeases('leased')})
    SELECT given.turn::int AS "${TURN}", 0 AS held,
      (free.place IS NULL OR (SELECT count(*) FROM first) > 0)::int AS picked,
      (SELECT coalesce(json_agg(leased), '[]') FROM leased
        WHERE leased.moderator_id = given.moderator_id) AS leased
    FROM given LEFT JOIN free USING (moderator_id)`;
  return { name: statementName(text), text };
}

/** The reply if another moderator's lease on a picked item was committed after the pick began. */
export const CLAIMED_BY_OTHERS: LeaseReply<Lease> = replyWith([]);

export function claimNext(
  me: Viewer,
  view: ClaimView,
  count: number,
  openAppeals: string,
  commit: Sql | null,
): Command<LeaseReply<Lease>, 'state_conflict'> {
  return defineCommand({
    load: { commit, leased: leaseNext(view, me, count, openAppeals) },
    decide({ leased: [next] }) {
      const { picked, held, leased } = next as NextLeases;
      if (held + picked > MAX_LEASES) return limitReached();
      if (leased.length < picked) return { appends: [], reply: () => CLAIMED_BY_OTHERS };
      const leases = leased.map(({ expires_at, ...lease }) =>
        leaseBody({ ...lease, expires_at: new Date(expires_at) }),
      );
      return { appends: [], changesRows: leases.length > 0, reply: () => replyWith(leases) };
    },
  });
}
