import { caseDecider } from '../../../domain/cases/case.ts';
import type { CaseEvent, CaseState } from '../../../domain/cases/case-state.ts';
import type { CaseCommand, MemberCaseCommand } from '../../../domain/cases/commands.ts';
import { isRefusal } from '../../../platform/refusal.ts';

export const caseId = '0b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f60';
export const author = 'a0000000-0000-4000-8000-000000000001';
export const ann = 'a0000000-0000-4000-8000-000000000002';
export const bob = 'a0000000-0000-4000-8000-000000000003';
export const artifact = 'a0000000-0000-4000-8000-000000000009';
export const submissionId = 'b0000000-0000-4000-8000-000000000001';
export const reviewId = 'b0000000-0000-4000-8000-000000000002';

const START = Date.parse('2026-09-12T10:00:00.000Z');
/** The time this many seconds after the start of the test. */
export const at = (seconds: number) => new Date(START + seconds * 1000);

export const opening = {
  type: 'OpenCase' as const,
  caseId,
  memberId: author,
  title: 'Title',
  summary: 'Summary',
  objective: 'Objective',
  acceptanceCriteria: ['One'],
  artifactId: null,
  artifactPublic: false,
  policyVersion: 'service-public-v1',
};

type More = Partial<{ expectedVersion: number; second: number; members: string[] }>;

const by = (memberId: string, { expectedVersion = 1, second = 0, members = [author] }: More) => ({
  memberId,
  expectedVersion,
  now: at(second),
  members,
});

export const claim = (
  member: string,
  more: More & { leaseSeconds?: number; held?: number } = {},
) => ({
  type: 'ClaimCase' as const,
  ...by(member, more),
  leaseSeconds: more.leaseSeconds ?? 3600,
  held: more.held ?? 0,
});
export const release = (member: string, more: More = {}) => ({
  type: 'ReleaseCase' as const,
  ...by(member, more),
});
export const submit = (
  member: string,
  more: More & { artifactId?: string; artifactPublic?: boolean } = {},
) => ({
  type: 'SubmitWork' as const,
  ...by(member, more),
  submissionId,
  summary: 'Done',
  artifactId: more.artifactId ?? null,
  artifactPublic: more.artifactPublic ?? false,
  policyVersion: 'service-public-v1',
});
export const review = (
  member: string,
  decision: 'accept' | 'request_changes' | 'reject',
  more: More = {},
) => ({
  type: 'ReviewSubmission' as const,
  ...by(member, more),
  reviewId,
  decision,
  comment: 'Said',
  policyVersion: 'service-public-v1',
});
export const withdraw = (member: string, more: More = {}) => ({
  type: 'WithdrawCase' as const,
  ...by(member, more),
});
export const leave = (memberId: string, second = 0) => ({
  type: 'LeaveCase' as const,
  memberId,
  now: at(second),
  members: [author],
});

/** The state after commands that must all be accepted. */
export function after(...commands: CaseCommand[]): CaseState {
  return commands.reduce<CaseState>((state, command) => {
    const decided = caseDecider.decide(state, command);
    if (isRefusal(decided)) throw new Error(`${command.type}: ${JSON.stringify(decided)}`);
    return decided.reduce(caseDecider.evolve, state);
  }, caseDecider.initial);
}

/** The events of a command that must be accepted. */
export function eventsOf(state: CaseState, command: CaseCommand): CaseEvent[] {
  const decided = caseDecider.decide(state, command);
  if (isRefusal(decided)) throw new Error(`${command.type}: ${JSON.stringify(decided)}`);
  return decided;
}

export function reasonOf(state: CaseState, command: CaseCommand | MemberCaseCommand): unknown {
  const decided = caseDecider.decide(state, command);
  return isRefusal(decided) ? (decided.details?.reason ?? decided.refused) : 'accepted';
}
