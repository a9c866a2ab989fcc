import type { EventStore } from '../eventstore/event-store.ts';
import type { Decision, Plan } from '../eventstore/plan.ts';
import { currentTrace } from './trace.ts';

/** Wraps a store: jobs that a command enqueues carry the trace of its request, beside their data. */
export function withTracedJobs(store: EventStore): EventStore {
  const execute: EventStore['execute'] = (command, execution) => {
    const traceId = currentTrace();
    return store.execute(traceId ? addTrace(command, traceId) : command, execution);
  };
  return { ...store, execute };
}

function addTrace<Answer, Code extends string>(
  command: Plan<Answer, Code>,
  traceId: string,
): Plan<Answer, Code> {
  return {
    ...command,
    decide(loaded): Decision<Answer, Code> {
      const decision = command.decide(loaded);
      if (!('jobs' in decision) || !decision.jobs) return decision;
      return {
        ...decision,
        jobs: decision.jobs.map((job) => ({ ...job, traceIds: [traceId] })),
      };
    },
  };
}
