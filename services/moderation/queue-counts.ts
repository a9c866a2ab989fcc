import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Sql } from '../eventstore/sql.ts';
import { query } from '../postgres.ts';
import { countView, type Viewer } from './queue.ts';

/** Up to here a view is counted on every request; a longer one is counted now and then. */
const EXACT = 1000;
const STALE_MS = 5000;

const VIEWS = ['todo', 'escalated', 'reported', 'appeals'] as const;
type Counted = (typeof VIEWS)[number];

export type Counts = Record<Counted | 'mine', number>;

/**
 * How many notes wait in each view. A page's cost must not grow with the queue: beyond a thousand
 * the number may be five seconds old, and one request at a time counts it anew.
 */
export function queueCounts(pool: pg.Pool) {
  const long = new Map<string, { count: number; at: number; next?: Promise<void> | undefined }>();

  function knownOf(view: Counted, viewer: Viewer) {
    const key = `${view} ${viewer.role === 'lead'}`;
    const known = long.get(key) ?? { count: EXACT, at: -Infinity };
    long.set(key, known);
    return known;
  }

  function isLong(view: Counted, viewer: Viewer): boolean {
    const { count, at } = knownOf(view, viewer);
    return count > EXACT && Date.now() - at <= STALE_MS;
  }

  async function countLong(view: Counted, viewer: Viewer): Promise<number> {
    const known = knownOf(view, viewer);
    if (Date.now() - known.at > STALE_MS)
      known.next ??= query<{ count: number }>(pool, countWhole(view, viewer))
        .then(([row]) => {
          known.count = row?.count ?? known.count;
          known.at = Date.now();
        })
        .finally(() => {
          known.next = undefined;
        });
    // The first to ask waits for the number; those after it take the last one.
    if (known.at === -Infinity) await known.next;
    else known.next?.catch(() => undefined);
    return Math.max(known.count, EXACT);
  }

  return async (viewer: Viewer): Promise<Counts> => {
    const short = VIEWS.filter((view) => !isLong(view, viewer));
    const [counted] = await query<Partial<Counts>>(pool, countBounded(viewer, short));
    const counts = { todo: 0, escalated: 0, reported: 0, appeals: 0, mine: 0, ...counted };
    for (const view of VIEWS)
      if (!short.includes(view) || counts[view] > EXACT)
        counts[view] = await countLong(view, viewer);
    return counts;
  };
}

function countBounded({ moderatorId, role }: Viewer, views: readonly Counted[]): Sql {
  const bounded = views.map((view) => `(${countView(view, role, EXACT + 1)}) AS ${view}, `);
  const text = `SELECT ${bounded.join('')}(SELECT count(*) FROM note_leases
    WHERE moderator_id = $1 AND expires_at > clock_timestamp())::int AS mine`;
  return { name: hash('sha1', text), text, values: [moderatorId] };
}

function countWhole(view: Counted, { role }: Viewer): Sql {
  const text = countView(view, role);
  return { name: hash('sha1', text), text, values: [] };
}
