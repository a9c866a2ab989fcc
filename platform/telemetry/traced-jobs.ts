import type { Command, Decision } from '../eventstore/command.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { currentTrace } from './trace.ts';

/** Wraps a store: jobs that a command enqueues carry the trace of its request, beside their data. */
export function withTracedJobs(store: EventStore): EventStore {
  const execute: EventStore['execute'] = (command, attempts) => {
    const traceId = currentTrace();
    return store.execute(traceId ? addTrace(command, traceId) : command, attempts);
  };
  return { ...store, execute };
}

function addTrace<Answer, Code extends string>(
  command: Command<Answer, Code>,
  traceId: string,
): Command<Answer, Code> {
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
