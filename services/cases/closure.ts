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
import { CLOSURE_BATCH, defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseDecider } from './case.ts';
import { caseAppends } from './run-case-command.ts';

/**
 * Withdraws the unfinished cases of a member whose account is closed, and releases the member's
 * claims on other cases, which drops a submission under review. Accepted cases keep their state.
 * Once the member is deactivated, reading any of the member's own cases returns 410.
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

/** Finds every member who took part in the cases, because the events appear in their feeds. */
export const casesClosure = defineAccountClosure({
  find: (memberId) => membersOfCasesHeld(memberId, CLOSURE_BATCH),
  load: (memberId) => ({
    facts: factsOfCasesHeld(memberId, CLOSURE_BATCH),
    members: livingMembersOfCasesHeld(memberId, CLOSURE_BATCH),
  }),
  close: (memberId, { facts, members }, now) => endCases(memberId, now, facts, members),
  // Only the member's own cases end; other members' cases keep their review leases.
  rows: (memberId, { facts }) => [dropLeases('case', [...ownCases(memberId, facts)])],
});
