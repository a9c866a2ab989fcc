import { type Append, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  type CaseMembers,
  factsOfCasesHeld,
  livingMembersOfCasesHeld,
  membersOfCasesHeld,
} from '../../projections/cases/case-members.ts';
import { CLOSING_BATCH, defineClosing } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseDecider } from './case.ts';
import { caseAppends } from './run-case-command.ts';

/**
 * The end of a member's account in cases: the own unfinished ones are withdrawn; a claim of
 * another's case is released, and the submission under review given up with it. Accepted cases keep
 * their state. Once the member is deactivated, none of the own cases can be read (410).
 */
function endCases(
  memberId: string,
  now: Date,
  facts: readonly RecordedEvent[],
  members: readonly CaseMembers[],
): Append[] {
  const concerned = new Map(members.map((row) => [`case-${row.case_id}`, row.members]));
  const streams = Map.groupBy(facts, ({ stream_id }) => stream_id);
  return [...streams].flatMap(([stream, events]) => {
    const state = replay(caseDecider, events);
    if (state.status === 'none') return [];
    const decided = caseDecider.decide(state, {
      type: 'LeaveCase',
      memberId,
      now,
      members: concerned.get(stream) ?? [],
    });
    if (isRefusal(decided)) throw new Error(`${stream}: ${decided.refused}`);
    return caseAppends(state, streamVersion(events), decided, { type: 'member', id: memberId });
  });
}

const ownCases = (memberId: string, facts: readonly RecordedEvent[]): Set<string> =>
  new Set(
    facts
      .filter(({ owner_id }) => owner_id === memberId)
      .map(({ stream_id }) => stream_id.slice('case-'.length)),
  );

/** A case concerns all who took part in it, so they are locked with the member. */
export const casesClosing = defineClosing({
  lock: (memberId) => membersOfCasesHeld(memberId, CLOSING_BATCH),
  load: (memberId) => ({
    facts: factsOfCasesHeld(memberId, CLOSING_BATCH),
    members: livingMembersOfCasesHeld(memberId, CLOSING_BATCH),
  }),
  close: (memberId, { facts, members }, now) => endCases(memberId, now, facts, members),
  // Those of others in which the member had a claim go on.
  rows: (memberId, { facts }) => [dropLeases('case', [...ownCases(memberId, facts)])],
});
