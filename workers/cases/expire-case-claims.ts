import { caseDecider } from '../../domain/cases/case.ts';
import {
  type Command,
  defineCommand,
  type EventStore,
} from '../../platform/eventstore/event-store.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { membersOfCase } from '../../projections/cases/case-members.ts';
import { lapsedCases } from '../../projections/cases/cases.ts';
import { caseAppends, caseLoad, loadedCase } from '../../services/cases/run-case-command.ts';
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
    find: membersOfCase(caseId),
    load: caseLoad(caseId, null),
    decide({ rows, now }) {
      const found = loadedCase(rows);
      if (isRefusal(found)) return { unchanged: false };
      const { state, version, members } = found;
      const decided = caseDecider.decide(state, { type: 'EndLease', now, members });
      if (isRefusal(decided) || decided.length === 0) return { unchanged: false };
      const appends = caseAppends(state, version, decided, { type: 'service' });
      return { answer: true, appends };
    },
  });
}
