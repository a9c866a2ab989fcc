import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { LEADS, ROLES_BY_ACTION } from '../../../domain/moderation/roles.ts';
import { query } from '../../../platform/postgres/query.ts';
import { withDeadline } from '../../../platform/postgres/request-deadline.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import type { MembershipReview } from './membership-review.ts';
import { countView, type Viewer } from './queue.ts';

/** A view with up to this many items is counted on every request; a higher count is cached. */
const MAX_EXACT_COUNT = 1000;
const STALE_MS = 5000;
/** The delay before the next count after the database failed to count in time. */
const PAUSE_MS = 60_000;
/** How long a request waits for the first count of a long view. */
const FIRST_MS = 500;

const VIEWS = ['todo', 'escalated', 'deferred', 'reported', 'appeals'] as const;
type Counted = (typeof VIEWS)[number];

export type Counts = Record<Counted | 'mine', number>;

interface LongCount {
  count: number;
  until: number;
  next?: Promise<void> | undefined;
}

/**
 * The number of open appeals that a moderator may answer: 0 for a triage moderator, and without
 * those against the moderator's own decisions. An auditor answers none, but sees how many are open.
 * Only leads answer those of disabled members.
 */
export function appealsFor(
  { role, moderatorId }: Viewer,
  { open, own }: { open: number; own: number },
  ofMembers: readonly AppealsAgainst[],
): number {
  if (role === 'auditor') return open;
  if (!ROLES_BY_ACTION.grant.includes(role)) return 0;
  const others = ofMembers.filter(({ moderator_id }) => moderator_id !== moderatorId);
  const theirs = LEADS.includes(role) ? others.reduce((sum, { count }) => sum + count, 0) : 0;
  return Math.max(0, open - own) + theirs;
}

/** The number of open appeals against a moderator's decisions; null for the operator. */
export interface AppealsAgainst {
  moderator_id: string | null;
  count: number;
}

/** Counts the open appeals against each moderator's decisions. */
export const appealsByDecider = (): Sql<{ moderator_id: string; count: number }> =>
  sql`SELECT settled_by AS moderator_id, count(*)::int AS count FROM notes
    WHERE appeal = 'open' AND settled_by IS NOT NULL GROUP BY settled_by`;

/**
 * Counts the items of each view: creates the function that has a viewer's statements, and what their rows mean. The cost
 * of a request must not grow with the queue, so a count above 1000 is cached for five seconds, and one request at a time refreshes
 * it. If a refresh fails, the last count (at least 1000) stays, and the next refresh comes a minute
 * later.
 */
export function queueCounts(pool: pg.Pool, review: Pick<MembershipReview, 'appealsByDecider'>) {
  const long = new Map<string, LongCount>();

  function knownOf(view: Counted, viewer: Viewer) {
    const key = `${view} ${viewer.role === 'lead'}`;
    const known = long.get(key) ?? { count: MAX_EXACT_COUNT + 1, until: -Infinity };
    long.set(key, known);
    return known;
  }

  function isLong(view: Counted, viewer: Viewer): boolean {
    const { count, until } = knownOf(view, viewer);
    return count > MAX_EXACT_COUNT && performance.now() <= until;
  }

  async function recount(known: LongCount, statement: Sql<{ count: number }>): Promise<void> {
    let pause = STALE_MS;
    try {
      // The count has its own deadline, so that a slow count does not fail the rest of the request.
      const [row] = await withDeadline(() => query(pool, statement));
      known.count = row?.count ?? known.count;
    } catch {
      pause = PAUSE_MS;
    }
    known.until = performance.now() + pause;
    known.next = undefined;
  }

  async function countLong(view: Counted, viewer: Viewer): Promise<number> {
    const known = knownOf(view, viewer);
    const first = known.until === -Infinity;
    if (performance.now() > known.until) known.next ??= recount(known, countWhole(view, viewer));
    // Requests wait up to FIRST_MS for the first count; after it, they take the cached count.
    if (first) await Promise.race([known.next, sleep(FIRST_MS, undefined, { ref: false })]);
    return Math.max(known.count, MAX_EXACT_COUNT);
  }

  return (viewer: Viewer) => {
    const short = VIEWS.filter((view) => !isLong(view, viewer));
    const statements = [
      countBounded(viewer, short),
      LEADS.includes(viewer.role) ? review.appealsByDecider() : undefined,
    ] as const;

    async function toCounts(
      [counted]: readonly BoundedCounts[],
      ofMembers: readonly AppealsAgainst[],
    ): Promise<Counts> {
      const { own_appeals = 0, ...exact } = counted ?? {};
      const counts = {
        todo: 0,
        escalated: 0,
        deferred: 0,
        reported: 0,
        appeals: 0,
        mine: 0,
        ...exact,
      };
      for (const view of VIEWS)
        if (!short.includes(view) || counts[view] > MAX_EXACT_COUNT)
          counts[view] = await countLong(view, viewer);
      counts.appeals = appealsFor(viewer, { open: counts.appeals, own: own_appeals }, ofMembers);
      return counts;
    }

    return { statements, toCounts };
  };
}

type BoundedCounts = Partial<Counts> & { own_appeals: number };

function countBounded(
  { moderatorId, role }: Viewer,
  views: readonly Counted[],
): Sql<BoundedCounts> {
  const bounded = views.map(
    (view) => `(${countView(view, role, MAX_EXACT_COUNT + 1)}) AS ${view}, `,
  );
  const text = `SELECT ${bounded.join('')}(SELECT count(*) FROM note_leases
      WHERE moderator_id = $1 AND ${isLiveLease()})::int AS mine,
    (SELECT count(*) FROM notes WHERE appeal = 'open' AND settled_by = $1)::int AS own_appeals`;
  return { name: hash('sha1', text), text, values: [moderatorId] };
}

function countWhole(view: Counted, { role }: Viewer): Sql<{ count: number }> {
  const text = countView(view, role);
  return { name: hash('sha1', text), text, values: [] };
}
