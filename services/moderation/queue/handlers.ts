import type { Handlers } from '../../../platform/http/route.ts';
import { nextPage, toPage } from '../../../platform/keyset-cursor.ts';
import { snapshot } from '../../../platform/postgres/reads.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { queueContract } from './contract.ts';
import type { ModerationDeps } from './deps.ts';
import { listItems, nextEntries } from './entries.ts';
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
      const next = nextEntries(deps, me, view, filters, limit + 1, after);
      const figures = countsFor(me);
      // In one round trip: reads side by side would take half of the pool for one moderator.
      const [notes, records, counted, ofMembers, folds] = await snapshot(deps.pool, [
        ...next.statements,
        ...figures.statements,
        liveFolds(),
      ]);
      const { entries, lookedTo } = next.toEntries(notes, records);
      const counts = await figures.toCounts(counted, ofMembers);
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
