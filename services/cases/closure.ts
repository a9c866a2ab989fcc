import {
  type Append,
  defineFactsOfStreamsSinceReset,
  streamVersion,
} from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { LostRace } from '../../platform/eventstore/transaction.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  type CaseMembers,
  casesHeld,
  factsOfCasesHeld,
  type HeldCase,
  livingMembersOfCasesHeld,
  membersOfCasesHeld,
} from '../../projections/cases/case-members.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseDecider } from './case.ts';
import { type CaseEvent, RESETS, stateSinceReset } from './case-state.ts';
import { caseAppends } from './run-case-command.ts';

const factsSinceReset = defineFactsOfStreamsSinceReset(RESETS);

/**
 * Ends a case of a member whose account is closed, or releases the member's claim
 * on another's case, which drops a submission under review. Accepted cases keep their state.
 * Once the member is deactivated, reading any of the member's own cases returns 410.
 */
function endCase(
  memberId: string,
  now: Date,
  held: HeldCase,
  events: readonly RecordedEvent[],
  members: readonly CaseMembers[],
): Append[] {
  const state = stateSinceReset(held, events as unknown as CaseEvent[]);
  const decided = caseDecider.decide(state, {
    type: 'LeaveCase',
    memberId,
    now,
    members: members.find(({ case_id }) => case_id === state.caseId)?.members ?? [],
  });
  if (isRefusal(decided)) throw new Error(`case ${state.caseId}: ${decided.refused}`);
  return caseAppends(state, streamVersion(events), decided, { type: 'member', id: memberId });
}

/** Finds every member who took part in the cases, because the events appear in their feeds. */
export const casesClosure = defineAccountClosure({
  find: (memberId, _request, limit) => membersOfCasesHeld(memberId, limit),
  load: (memberId, _request, limit) => ({
    held: casesHeld(memberId, limit),
    facts: factsOfCasesHeld(memberId, limit, factsSinceReset),
    members: livingMembersOfCasesHeld(memberId, limit),
  }),
  close(memberId, { held, facts, members }, now) {
    const streams = Map.groupBy(facts.flat(), ({ stream_id }) => stream_id);
    return held.flatMap((row) => {
      const events = streams.get(`case-${row.case_id}`);
      // The member claimed the case after its events were looked up.
      if (!events) throw new LostRace(`case ${row.case_id}: events not loaded`);
      return endCase(memberId, now, row, events, members);
    });
  },
  // Only the member's own cases end; other members' cases keep their review leases.
  rows: (memberId, { held }) => [
    dropLeases(
      'case',
      held.filter(({ author_id }) => author_id === memberId).map(({ case_id }) => case_id),
    ),
  ],
});
