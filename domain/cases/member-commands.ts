import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { conflict, wrongState, wrongVersion } from '../conflict.ts';
import type {
  CaseEvent,
  CaseEvents,
  ClaimedCase,
  ExistingCase,
  OpenCase,
  SubmittedCase,
} from './case-state.ts';
import type { CommandContext, MemberCaseCommand } from './commands.ts';

type Command<Type> = Extract<MemberCaseCommand, { type: Type }>;
type EventsOrConflict = EventsOrRefusal<CaseEvents, 'state_conflict'>;

const after = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1000);

/** The members whom the case concerns, including the caller of the command. */
export function affectedMembersOfCase({
  members,
  memberId,
}: Pick<CommandContext, 'members' | 'memberId'>): string[] {
  return [...new Set([...members, memberId])].sort();
}

/**
 * Decides a member's command on a case whose expired lease has already been ended. Checks the state
 * first, then the member's role, then the expected version.
 */
export function decideMember(state: ExistingCase, command: MemberCaseCommand): EventsOrConflict {
  switch (command.type) {
    case 'ClaimCase':
      return claim(state, command);
    case 'ReleaseCase':
      return asClaimant(state, command, (claimed) => release(claimed, command));
    case 'SubmitWork':
      return asClaimant(state, command, (claimed) => submit(claimed, command));
    case 'ReviewSubmission':
      return review(state, command);
    case 'WithdrawCase':
      if (state.status !== 'open') return wrongState(state);
      if (state.authorId !== command.memberId) return conflict('not_author');
      return requireVersion(state, command, () => withdraw(state, command));
  }
}

function requireVersion(
  state: ExistingCase,
  { expectedVersion }: { expectedVersion: number },
  decide: () => EventsOrConflict,
): EventsOrConflict {
  return expectedVersion === state.version ? decide() : wrongVersion(state);
}

/** The most cases that a member can hold at the same time, so that cases are left for others. */
const MAX_HELD_CASES = 25;

/** Claims an open case for a member other than its author, or lengthens the claimant's lease. */
function claim(state: ExistingCase, command: Command<'ClaimCase'>): EventsOrConflict {
  const { memberId, leaseSeconds, now } = command;
  const mine = state.status === 'claimed' && state.claim.memberId === memberId;
  if (state.status !== 'open' && !mine) return wrongState(state);
  if (state.authorId === memberId) return conflict('own_case');
  if (!mine && command.held >= MAX_HELD_CASES)
    return conflict('held_case_limit', { limit: MAX_HELD_CASES });
  return requireVersion(state, command, () => {
    const end = after(now, leaseSeconds);
    const later = mine && state.claim.expiresAt > end ? state.claim.expiresAt : end;
    // A returned case gets a new lease of this length, so an extension must not shorten it either.
    const seconds = mine ? Math.max(state.claim.leaseSeconds, leaseSeconds) : leaseSeconds;
    const data = {
      case_id: state.caseId,
      member_id: memberId,
      lease_seconds: seconds,
      lease_expires_at: later.toISOString(),
      members: affectedMembersOfCase(command),
    };
    return [{ type: mine ? 'CaseLeaseExtended' : 'CaseClaimed', data, personal: null }];
  });
}

/**
 * Runs `decide` for the claimant only. A member whose lease has expired gets `lease_expired` until
 * another member claims the case.
 */
function asClaimant(
  state: ExistingCase,
  command: Command<'ReleaseCase' | 'SubmitWork'>,
  decide: (claimed: ClaimedCase) => EventsOrConflict,
): EventsOrConflict {
  if (state.status === 'open' && state.lapsed === command.memberId)
    return conflict('lease_expired', {
      current_state: state.status,
      current_version: state.version,
    });
  if (state.status !== 'claimed') return wrongState(state);
  if (state.claim.memberId !== command.memberId) return conflict('not_claimant');
  return requireVersion(state, command, () => decide(state));
}

function release({ caseId }: ClaimedCase, command: Command<'ReleaseCase'>): CaseEvent[] {
  const data = {
    case_id: caseId,
    member_id: command.memberId,
    reason: 'claimant' as const,
    members: affectedMembersOfCase(command),
  };
  return [{ type: 'CaseReleased', data, personal: null }];
}

function submit({ caseId }: ClaimedCase, command: Command<'SubmitWork'>): EventsOrConflict {
  if (command.artifactId !== null && !command.artifactPublic)
    return conflict('artifact_unavailable');
  const data = {
    case_id: caseId,
    submission_id: command.submissionId,
    member_id: command.memberId,
    artifact_id: command.artifactId,
    policy_version: command.policyVersion,
    members: affectedMembersOfCase(command),
  };
  return [{ type: 'CaseSubmitted', data, personal: { summary: command.summary } }];
}

function withdraw({ caseId }: OpenCase, command: Command<'WithdrawCase'>): CaseEvent[] {
  const data = {
    case_id: caseId,
    reason: 'author' as const,
    members: affectedMembersOfCase(command),
  };
  return [{ type: 'CaseWithdrawn', data, personal: null }];
}

/** The author's review is binding; a review by any other member is advice. */
function review(state: ExistingCase, command: Command<'ReviewSubmission'>): EventsOrConflict {
  if (state.status !== 'submitted') return wrongState(state);
  if (state.claim.memberId === command.memberId) return conflict('own_submission');
  return requireVersion(state, command, () => {
    const binding = state.authorId === command.memberId;
    const data = {
      case_id: state.caseId,
      review_id: command.reviewId,
      submission_id: state.submissionId,
      member_id: command.memberId,
      decision: command.decision,
      binding,
      policy_version: command.policyVersion,
      members: affectedMembersOfCase(command),
    };
    const reviewed: CaseEvent = {
      type: 'CaseReviewed',
      data,
      personal: { comment: command.comment },
    };
    return binding ? [reviewed, outcome(state, command)] : [reviewed];
  });
}

function outcome(state: SubmittedCase, command: Command<'ReviewSubmission'>): CaseEvent {
  const data = {
    case_id: state.caseId,
    review_id: command.reviewId,
    submission_id: state.submissionId,
    member_id: state.claim.memberId,
    members: affectedMembersOfCase(command),
  };
  if (command.decision === 'accept') return { type: 'CaseAccepted', data, personal: null };
  if (command.decision === 'reject') return { type: 'CaseRejected', data, personal: null };
  const end = after(command.now, state.claim.leaseSeconds);
  const returned = { ...data, lease_expires_at: end.toISOString() };
  return { type: 'CaseReturned', data: returned, personal: null };
}
