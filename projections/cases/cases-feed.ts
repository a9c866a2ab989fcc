import * as cases from '../../domain/cases/events.ts';
import { addEntry, defineActivity, hideEntries, takeDownEntries } from '../activity-entry.ts';
import { defineFeedEntries, type FeedEntry } from '../feed-entry.ts';

/** Creates one entry for each member involved in the case. */
function tell(
  { members, case_id }: { members: readonly string[]; case_id: string },
  type: FeedEntry['type'],
  data: Record<string, unknown>,
): FeedEntry[] {
  const subject = { type: 'case', id: case_id };
  return members.map((member) => ({ member, type, subject, data }));
}

const claim = (data: { member_id: string; lease_expires_at: string }) => ({
  member_id: data.member_id,
  lease_expires_at: data.lease_expires_at,
});

const outcome = (data: { review_id: string; submission_id: string; member_id: string }) => ({
  review_id: data.review_id,
  submission_id: data.submission_id,
  member_id: data.member_id,
});

/** Hides which moderator acted. */
const MODERATOR = { type: 'moderator' as const };

/**
 * Members are notified of a removal once it can no longer be undone, and of a restoration only if
 * they were notified of the removal.
 */
export const casesFeed = defineFeedEntries(cases, {
  CaseOpened: ({ data }) =>
    tell({ ...data, members: [data.author_id] }, 'case.opened', { artifact_id: data.artifact_id }),
  CaseClaimed: ({ data }) => tell(data, 'case.claimed', claim(data)),
  CaseLeaseExtended: ({ data }) => tell(data, 'case.claimed', { ...claim(data), extended: true }),
  CaseReleased: ({ data }) =>
    tell(data, 'case.released', { member_id: data.member_id, reason: data.reason }),
  CaseLeaseEnded: ({ data }) => tell(data, 'case.lease_ended', claim(data)),
  CaseSubmitted: ({ data }) =>
    tell(data, 'case.submitted', {
      submission_id: data.submission_id,
      member_id: data.member_id,
      artifact_id: data.artifact_id,
    }),
  CaseReviewed: ({ data }) =>
    tell(data, 'case.reviewed', {
      ...outcome(data),
      decision: data.decision,
      binding: data.binding,
    }),
  CaseAccepted: ({ data }) => tell(data, 'case.accepted', outcome(data)),
  CaseReturned: ({ data }) =>
    tell(data, 'case.returned', { ...outcome(data), lease_expires_at: data.lease_expires_at }),
  CaseRejected: ({ data }) => tell(data, 'case.rejected', outcome(data)),
  CaseWithdrawn: ({ data }) => tell(data, 'case.withdrawn', { reason: data.reason }),
  CaseNoted: ({ owner_id, data }) =>
    tell(data, 'case.noted', { note_id: data.note_id, member_id: owner_id }),
  CaseRemovalTold: ({ data }) => tell(data, 'case.removed', { policy: data.policy }),
  CaseRestored: ({ data }) =>
    data.told
      ? tell(data, 'case.opened', { restored: true }).map((entry) => ({
          ...entry,
          actor: MODERATOR,
        }))
      : [],
  CaseNoteRemovalTold: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'case.removed',
    subject: { type: 'case_note', id: data.note_id },
    data: { case_id: data.case_id, policy: data.policy },
  }),
  CaseNoteRestored: ({ owner_id, data }) =>
    data.told
      ? {
          member: owner_id,
          type: 'case.noted',
          subject: { type: 'case_note', id: data.note_id },
          data: { case_id: data.case_id, restored: true },
          actor: MODERATOR,
        }
      : [],
});

export const casesActivity = defineActivity(cases, {
  CaseOpened: (event) => addEntry(event, 'case.opened', event.data.case_id),
  CaseClaimed: (event) => addEntry(event, 'case.claimed', event.data.case_id),
  CaseSubmitted: (event) => addEntry(event, 'case.submitted', event.data.case_id),
  CaseAccepted: (event) => addEntry(event, 'case.accepted', event.data.case_id),
  CaseRemoved: ({ data }) => takeDownEntries('case', data.case_id, true),
  CaseRestored: ({ data }) => takeDownEntries('case', data.case_id, false),
  CaseWithdrawn: ({ data }) => hideEntries('case', data.case_id),
  CaseAuthorLeft: ({ data }) => hideEntries('case', data.case_id),
});
