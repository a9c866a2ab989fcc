import { SpanKind } from '@opentelemetry/api';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Decision, Plan } from '../eventstore/plan.ts';
import { inSpan, traceparentOf } from './spans.ts';
import { currentTrace } from './trace.ts';

const TRANSACTION = {
  name: 'transaction',
  kind: SpanKind.CLIENT,
  attributes: { 'db.system.name': 'postgresql', 'db.operation.name': 'transaction' },
};

/**
 * Wraps a store: each command has a span, from its wait for a batch to the answer of COMMIT, and jobs that it enqueues
 * carry the trace of its request, beside their data.
 */
export function withTraces(store: EventStore): EventStore {
  const execute: EventStore['execute'] = (command, execution) =>
    inSpan(
      () => TRANSACTION,
      (span) => {
        const traceIds = [currentTrace() ?? [], traceparentOf(span) ?? []].flat();
        const traced = traceIds.length > 0 ? addTraces(command, traceIds) : command;
        return store.execute(traced, execution);
      },
    );
  return { ...store, execute };
}

function addTraces<Answer, Code extends string>(
  command: Plan<Answer, Code>,
  traceIds: readonly string[],
): Plan<Answer, Code> {
  return {
    ...command,
    decide(loaded): Decision<Answer, Code> {
      const decision = command.decide(loaded);
      if (!('jobs' in decision) || !decision.jobs) return decision;
      return { ...decision, jobs: decision.jobs.map((job) => ({ ...job, traceIds })) };
    },
  };
}
