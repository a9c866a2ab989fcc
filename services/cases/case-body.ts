import type { CaseRow } from '../../projections/cases/cases.ts';
import type { ExistingCase } from './case-state.ts';
import type { CaseBody } from './contract.ts';

const iso = (time: Date): string => time.toISOString();

/**
 * The public representation of a case. If the lease has expired, the case reads as open, with the
 * version and time that `CaseLeaseEnded` will set, so recording that event changes nothing here.
 */
export function caseBody(row: CaseRow): CaseBody {
  const end = row.lapsed ? row.lease_expires_at : null;
  const held = row.state === 'claimed' && !end && row.claimant_id && row.lease_expires_at;
  return {
    id: row.case_id,
    author_id: row.author_id,
    title: row.title ?? '',
    summary: row.summary ?? '',
    objective: row.objective ?? '',
    acceptance_criteria: row.acceptance_criteria ?? [],
    artifact_id: row.artifact_id,
    state: end ? 'open' : row.state,
    version: end ? row.version + 1 : row.version,
    created_at: iso(row.created_at),
    updated_at: iso(end ?? row.updated_at),
    claim:
      held && row.claimant_id ? { member_id: row.claimant_id, lease_expires_at: iso(held) } : null,
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

/** Whether the claim's lease has expired at `now`. */
export function lapsedAt(row: CaseRow, now: Date): boolean {
  return row.state === 'claimed' && row.lease_expires_at !== null && row.lease_expires_at <= now;
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
