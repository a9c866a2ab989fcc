import type { RemovalCommand } from '../publications/removal.ts';
import type { ReviewDecision } from './words.ts';

/** The calling member, the database time, and the members whom the case concerns so far. */
export interface CommandContext {
  memberId: string;
  now: Date;
  members: readonly string[];
}

/** `expectedVersion` is the version of the case that the member has seen. */
type Versioned = CommandContext & { expectedVersion: number };

export type MemberCaseCommand =
  /** `held` is the number of cases that the member has claimed. */
  | (Versioned & { type: 'ClaimCase'; leaseSeconds: number; held: number })
  | (Versioned & { type: 'ReleaseCase' })
  | (Versioned & {
      type: 'SubmitWork';
      submissionId: string;
      summary: string;
      artifactId: string | null;
      artifactPublic: boolean;
      policyVersion: string;
    })
  | (Versioned & {
      type: 'ReviewSubmission';
      reviewId: string;
      decision: ReviewDecision;
      comment: string;
      policyVersion: string;
    })
  | (Versioned & { type: 'WithdrawCase' });

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
  /** Ends the lease if it has expired. Sent by the worker, and with a new note on the case. */
  | { type: 'EndLease'; now: Date; members: readonly string[] }
  /** Ends the member's part in the case when the member's account is closed. */
  | (CommandContext & { type: 'LeaveCase' })
  /** Ends the member's claim when the membership is disabled; submitted work stays under review. */
  | (CommandContext & { type: 'LoseClaim' })
  | (RemovalCommand & { members: readonly string[] });

export type CaseRefusal = 'not_found' | 'gone' | 'state_conflict';
