import type { Handlers } from '../../../platform/http/route.ts';
import { nextPage, toPage } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { queueContract } from './contract.ts';
import type { ModerationDeps } from './deps.ts';
import { listEntries, listItems } from './entries.ts';
import { liveFolds } from './live-folds.ts';
import { readQueuePlace, writeQueuePlace } from './queue.ts';
import { queueCounts } from './queue-counts.ts';

export function queueHandlers(
  deps: ModerationDeps,
): Pick<Handlers<typeof queueContract>, 'moderation.queue'> {
  const countsFor = queueCounts(deps.pool, deps.membershipReview);
  return {
    'moderation.queue': async ({ principal: me, query: asked }) => {
      const { view, cursor, limit, ...filters } = asked;
      const after = cursor === undefined ? undefined : readQueuePlace(view, filters, cursor);
      if (cursor !== undefined && !after) return refuse('invalid_cursor');
      const [{ entries, lookedTo }, counts, folds] = await Promise.all([
        listEntries(deps, me, view, filters, limit + 1, after),
        countsFor(me),
        query(deps.pool, liveFolds()),
      ]);
      const page = toPage('queue', entries, limit, ({ place }) =>
        writeQueuePlace(view, filters, place),
      );
      const end = lookedTo && writeQueuePlace(view, filters, lookedTo);
      return {
        status: 200,
        body: {
          status: 'ok',
          items: await listItems(deps, me, page.rows, folds),
          ...nextPage(page.next.next_cursor ?? end),
          counts,
        },
      };
    },
  };
}
