import type { ExistingCase } from '../../domain/cases/case-state.ts';
import type { OpenCaseCommand } from '../../domain/cases/commands.ts';
import { stateAsRead } from '../../domain/cases/lease.ts';
import type { CaseRow } from '../../projections/cases/cases.ts';
import type { CaseBody } from './contract.ts';

const iso = (time: Date): string => time.toISOString();

/** The public representation of a case. */
export function caseBody(row: CaseRow): CaseBody {
  const { state, version, updated_at } = stateAsRead(row);
  const leaseEnd = state === 'claimed' ? row.lease_expires_at : null;
  return {
    id: row.case_id,
    author_id: row.author_id,
    title: row.title ?? '',
    summary: row.summary ?? '',
    objective: row.objective ?? '',
    acceptance_criteria: row.acceptance_criteria ?? [],
    artifact_id: row.artifact_id,
    state,
    version,
    created_at: iso(row.created_at),
    updated_at: iso(updated_at),
    claim:
      leaseEnd && row.claimant_id
        ? { member_id: row.claimant_id, lease_expires_at: iso(leaseEnd) }
        : null,
    submission:
      row.submission_id && row.submitter_id && row.submitted_at
        ? {
            id: row.submission_id,
            member_id: row.submitter_id,
            summary: row.submission_summary,
            artifact_id: row.submission_artifact_id,
            created_at: iso(row.submitted_at),
          }
        : null,
  };
}

/** The row of a case that `command` opens. */
export function rowOfNewCase(command: OpenCaseCommand, now: Date): CaseRow {
  return {
    case_id: command.caseId,
    author_id: command.memberId,
    title: command.title,
    summary: command.summary,
    objective: command.objective,
    acceptance_criteria: command.acceptanceCriteria,
    artifact_id: command.artifactId,
    state: 'open',
    version: 1,
    created_at: now,
    updated_at: now,
    claimant_id: null,
    lease_expires_at: null,
    submission_id: null,
    removed: false,
    author_gone: false,
    lapsed: false,
    submitter_id: null,
    submission_summary: null,
    submission_artifact_id: null,
    submitted_at: null,
  };
}

/** The row after a command's events. `submitted` is the work that the command submits, or null. */
export function rowAfter(
  row: CaseRow,
  state: ExistingCase,
  now: Date,
  submitted: { summary: string; artifactId: string | null } | null,
): CaseRow {
  const claim = state.status === 'claimed' || state.status === 'submitted' ? state.claim : null;
  const stands = state.status === 'submitted' || state.status === 'accepted';
  const fresh = submitted && {
    submitter_id: claim?.memberId ?? null,
    submission_summary: submitted.summary,
    submission_artifact_id: submitted.artifactId,
    submitted_at: now,
  };
  return {
    ...row,
    ...fresh,
    state: state.status,
    version: state.version,
    updated_at: state.version === row.version ? row.updated_at : now,
    lapsed: false,
    claimant_id: claim?.memberId ?? null,
    lease_expires_at: state.status === 'claimed' ? state.claim.expiresAt : null,
    submission_id: stands ? state.submissionId : null,
  };
}
