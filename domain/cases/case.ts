import type { Decider, EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { conflict } from '../conflict.ts';
import { decideRemoval, type RemovalCommand } from '../publications/removal.ts';
import {
  type CaseEvent,
  type CaseEvents,
  type CaseState,
  type ExistingCase,
  evolve,
} from './case-state.ts';
import type {
  CaseCommand,
  CaseRefusal,
  CommandContext,
  MemberCaseCommand,
  OpenCaseCommand,
} from './commands.ts';
import { isLapsed } from './lease.ts';
import { affectedMembersOfCase, decideMember } from './member-commands.ts';

/**
 * A case is open, claimed under a lease, submitted, accepted, or withdrawn. An expired lease counts
 * as ended even before the log has the event; the next command on the case records it first.
 */
export const caseDecider: Decider<CaseState, CaseCommand, CaseEvents, CaseRefusal> = {
  initial: { status: 'none' },

  decide(state, command) {
    if (command.type === 'OpenCase') return openCase(state, command);
    if (state.status === 'none') return refuse('not_found');
    switch (command.type) {
      case 'EndLease':
        return lapse(state, command.now, command.members);
      case 'LeaveCase':
        return leave(state, command);
      case 'LoseClaim':
        return loseClaim(state, command);
      case 'ClaimCase':
      case 'ReleaseCase':
      case 'SubmitWork':
      case 'ReviewSubmission':
      case 'WithdrawCase':
        return afterLapse(state, command);
      default:
        return moderate(state, command);
    }
  },

  evolve,
};

export function openCase(
  state: CaseState,
  command: OpenCaseCommand,
): EventsOrRefusal<CaseEvents, 'state_conflict'> {
  if (state.status !== 'none') return conflict('wrong_state', { current_state: state.status });
  const { artifactId, title, summary, objective, acceptanceCriteria } = command;
  if (artifactId !== null && !command.artifactPublic) return conflict('artifact_unavailable');
  return [
    {
      type: 'CaseOpened',
      data: {
        case_id: command.caseId,
        author_id: command.memberId,
        artifact_id: artifactId,
        policy_version: command.policyVersion,
      },
      personal: { title, summary, objective, acceptance_criteria: acceptanceCriteria },
    },
  ];
}

/** Ends the lease if it has expired at `now`; otherwise returns no event. */
function lapse(state: ExistingCase, now: Date, members: readonly string[]): CaseEvent[] {
  if (state.status !== 'claimed') return [];
  const { memberId, expiresAt } = state.claim;
  if (!isLapsed(state.status, expiresAt, now)) return [];
  const data = {
    case_id: state.caseId,
    member_id: memberId,
    lease_expires_at: expiresAt.toISOString(),
    members: [...members],
  };
  return [{ type: 'CaseLeaseEnded', data, personal: null }];
}

/** The state of the case at `now`, with an expired lease ended. */
export function atTime(state: ExistingCase, now: Date): ExistingCase {
  return lapse(state, now, []).reduce<CaseState>(evolve, state) as ExistingCase;
}

function afterLapse(
  state: ExistingCase,
  command: MemberCaseCommand,
): EventsOrRefusal<CaseEvents, CaseRefusal> {
  if (state.removed) return refuse('gone');
  // The receipt lists this event, so it must also appear in the caller's feed.
  const ended = lapse(state, command.now, affectedMembersOfCase(command));
  const decided = decideMember(atTime(state, command.now), command);
  return isRefusal(decided) ? decided : [...ended, ...decided];
}

/**
 * Ends the author's case, and withdraws it if it is unfinished: no one is left to review it. On
 * another member's case, gives up the claim or submission, and the case becomes open again.
 */
function leave(state: ExistingCase, by: CommandContext): CaseEvent[] {
  const ended = lapse(state, by.now, by.members);
  const now = atTime(state, by.now);
  const common = {
    case_id: now.caseId,
    reason: 'deactivated' as const,
    members: affectedMembersOfCase(by),
  };
  const unfinished = now.status !== 'accepted' && now.status !== 'withdrawn';
  if (now.authorId === by.memberId) {
    const left: CaseEvent = {
      type: 'CaseAuthorLeft',
      data: { case_id: now.caseId },
      personal: null,
    };
    return unfinished
      ? [...ended, { type: 'CaseWithdrawn', data: common, personal: null }, left]
      : [left];
  }
  const holds = now.status === 'claimed' || now.status === 'submitted';
  if (!holds || now.claim.memberId !== by.memberId) return ended;
  const data = { ...common, member_id: by.memberId };
  return [{ type: 'CaseReleased', data, personal: null }];
}

/** Gives up the member's claim, as the member could; the case then says no more than that. */
function loseClaim(state: ExistingCase, by: CommandContext): CaseEvent[] {
  const ended = lapse(state, by.now, by.members);
  const now = atTime(state, by.now);
  if (now.status !== 'claimed' || now.claim.memberId !== by.memberId) return ended;
  const data = {
    case_id: now.caseId,
    reason: 'claimant' as const,
    members: affectedMembersOfCase(by),
    member_id: by.memberId,
  };
  return [{ type: 'CaseReleased', data, personal: null }];
}

function moderate(
  state: ExistingCase,
  command: RemovalCommand & { members: readonly string[] },
): EventsOrRefusal<CaseEvents, 'state_conflict'> {
  const decided = decideRemoval(
    { status: state.removed ? 'removed' : 'published', version: state.version, told: state.told },
    command,
  );
  if (decided === null) return [];
  if (isRefusal(decided)) return decided;
  const case_id = state.caseId;
  const members = [...command.members];
  switch (decided.type) {
    case 'Removed':
      return [{ ...decided, type: 'CaseRemoved', data: { case_id, ...decided.data } }];
    case 'RemovalTold':
      return [
        {
          type: 'CaseRemovalTold',
          data: { case_id, ...decided.data, members },
          personal: null,
        },
      ];
    case 'Restored':
      return [
        { type: 'CaseRestored', data: { case_id, ...decided.data, members }, personal: null },
      ];
  }
}
