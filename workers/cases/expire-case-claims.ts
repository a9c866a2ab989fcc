import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { defineCommand, handle, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { lapsedCases } from '../../projections/cases/cases.ts';
import { loadCase } from '../../services/cases/case-stream.ts';
import { forEachInBatches } from '../running/batches.ts';

/** Records the end of every case claim with an expired lease; returns how many it recorded. */
export function expireCaseClaims({ store }: { store: EventStore }): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, lapsedCases(limit)),
    async ({ case_id }) => (await handle(store, SERVICE_ACTOR, lapseCommand(case_id))) === true,
  );
}

function lapseCommand(caseId: string) {
  return defineCommand({
    load: { found: loadCase(caseId) },
    decide({ found }, now) {
      const ended = found.decide({ type: 'EndLease', now, members: found.members });
      if (isRefusal(ended) || ended.appends.length === 0) return NOTHING_TO_DO;
      return { ...ended, reply: () => true };
    },
  });
}
