import type { EventStore } from '../platform/eventstore/event-store.ts';
import type { Plan } from '../platform/eventstore/plan.ts';

/** The command that a function hands to its store, without executing it. */
export function capturedCommand<Answer>(
  issue: (store: EventStore) => Promise<Answer>,
): Plan<Answer, string> {
  let captured: Plan<Answer, string> | undefined;
  const execute = (command: Plan<Answer, string>) => {
    captured = command;
    return new Promise<never>(() => {});
  };
  void issue({ execute } as unknown as EventStore);
  if (!captured) throw new Error('no command was executed');
  return captured;
}
