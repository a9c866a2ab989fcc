import {
  type DisablingEvents,
  disabling,
  type MembershipCommand,
} from '../../domain/disabling/disabling.ts';
import { readStream } from '../../platform/eventstore/append.ts';
import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { isRefusal } from '../../platform/refusal.ts';

/** The stream of decisions on a membership and of appeals against them; the member owns it. */
export const disablingStream = (memberId: string): string => `disabling-${memberId}`;

/** Loads the decisions on a membership and its appeals, to decide on a further one. */
export function loadMembership(memberId: string) {
  const owner = memberOwner(memberId);
  const stream = disablingStream(memberId);
  return derive(readStream(owner, stream), (recorded) => {
    const state = disabling.replay(recorded);
    const { version } = state;
    function append<Code extends string>(events: EventsOrRefusal<DisablingEvents, Code>) {
      if (isRefusal(events)) return events;
      const appends = [{ owner, stream, version, events }];
      return { appends, events, version: version + events.length };
    }
    const decide = (command: MembershipCommand) => append(disabling.decide(state, command));
    return { recorded, state, append, decide };
  });
}
