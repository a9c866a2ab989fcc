import type { RemovalCommand } from '../publications/removal.ts';
import type { ReviewDecision } from './review-decision.ts';

/** Who commands, when by the database's clock, and whom of the members the case concerns so far. */
export interface By {
  memberId: string;
  now: Date;
  members: readonly string[];
}

/** `known` is the version that the member has seen. */
type Expecting = By & { known: number };

export type MemberCaseCommand =
  | (Expecting & { type: 'ClaimCase'; leaseSeconds: number })
  | (Expecting & { type: 'ReleaseCase' })
  | (Expecting & {
      type: 'SubmitWork';
      submissionId: string;
      summary: string;
      artifactId: string | null;
      artifactPublic: boolean;
      policyVersion: string;
    })
  | (Expecting & {
      type: 'ReviewSubmission';
      reviewId: string;
      decision: ReviewDecision;
      comment: string;
      policyVersion: string;
    })
  | (Expecting & { type: 'WithdrawCase' });

export interface OpenCaseCommand {
  type: 'OpenCase';
  caseId: string;
  memberId: string;
  title: string;
  summary: string;
  objective: string;
  acceptanceCriteria: string[];
  artifactId: string | null;
  artifactPublic: boolean;
  policyVersion: string;
}

export type CaseCommand =
  | OpenCaseCommand
  | MemberCaseCommand
  /** The worker's: nothing where the lease is not over. */
  | { type: 'EndLease'; now: Date; members: readonly string[] }
  /** The member's account ends: gives up what the member has of the case. */
  | (By & { type: 'LeaveCase' })
  | (RemovalCommand & { members: readonly string[] });

export type CaseRefusal = 'not_found' | 'gone' | 'state_conflict';
