import { attribute } from '../../platform/eventstore/append.ts';
import {
  type Command,
  defineCommand,
  type EventStore,
} from '../../platform/eventstore/event-store.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { lapsedCases } from '../../projections/cases/cases.ts';
import { loadCase } from '../../services/cases/case-stream.ts';
import { forEachInBatches } from '../batches.ts';

/** Records the end of every case claim with an expired lease; returns how many it recorded. */
export function lapseCaseClaims({ store }: { store: EventStore }): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, lapsedCases(limit)),
    async ({ case_id }) => (await store.execute(lapseCommand(case_id))) === true,
  );
}

function lapseCommand(caseId: string): Command<boolean> {
  return defineCommand({
    load: loadCase(caseId),
    decide({ rows: found, now }) {
      if (isRefusal(found)) return { unchanged: false };
      const ended = found.decide({ type: 'EndLease', now, members: found.members });
      if (isRefusal(ended) || ended.appends.length === 0) return { unchanged: false };
      return { answer: true, appends: attribute(ended.appends, { type: 'service' }) };
    },
  });
}
