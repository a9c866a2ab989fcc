import type { Command } from '../platform/eventstore/command.ts';
import type { EventStore } from '../platform/eventstore/event-store.ts';

/** The command that a function hands to its store, without executing it. */
export function capturedCommand<Answer>(
  issue: (store: EventStore) => Promise<Answer>,
): Command<Answer, string> {
  let captured: Command<Answer, string> | undefined;
  const execute = (command: Command<Answer, string>) => {
    captured = command;
    return new Promise<never>(() => {});
  };
  void issue({ execute } as unknown as EventStore);
  if (!captured) throw new Error('no command was executed');
  return captured;
}
