import { caseDecider } from '../../domain/cases/case.ts';
import { caseNote } from '../../domain/cases/case-note.ts';
import { stateSinceReset } from '../../domain/cases/case-state.ts';
import * as events from '../../domain/cases/events.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import { livingMembersOfCase, membersOfCase } from '../../projections/cases/case-members.ts';
import { caseNoteRecords } from '../../projections/cases/case-record.ts';
import { caseRecords } from '../../projections/cases/cases.ts';
import { defineRecordEvents } from '../../projections/publications/record-events.ts';
import { recordAuthors } from '../../projections/publications/records.ts';
import { noMembers, type PublicationKind, provableKind } from '../publications/publication-kind.ts';

type Refused = Refusal<'state_conflict' | 'not_found'>;

/** Decisions on a case are announced to its author, its claimant and those who took part last. */
export const caseKind: PublicationKind = {
  type: 'case',
  events: defineRecordEvents(events, {
    removed: 'CaseRemoved',
    restored: 'CaseRestored',
    notified: 'CaseRemovalTold',
    withdrawn: 'CaseAuthorLeft',
    seen: ['CaseWithdrawn'],
    unversioned: ['CaseReviewed', 'CaseRemovalTold', 'CaseAuthorLeft'],
    idOf: ({ data }) => data.case_id,
  }),
  stream: (id) => `case-${id}`,
  records: caseRecords,
  tables: ['cases'],
  members: membersOfCase,
  concerned: livingMembersOfCase,
  decide({ row, version, told }, command, members) {
    const { subject_id: case_id, author_id, removed } = row;
    const state = { ...stateSinceReset({ case_id, author_id, version, removed }, []), told };
    const decided = caseDecider.decide(state, { ...command, members });
    return isRefusal(decided) ? (decided as Refused) : decided;
  },
};

/** A note on a case. Its author owns the stream, and only its author is notified of decisions. */
export const caseNoteKind: PublicationKind = {
  type: 'case_note',
  events: defineRecordEvents(events, {
    removed: 'CaseNoteRemoved',
    restored: 'CaseNoteRestored',
    notified: 'CaseNoteRemovalTold',
    seen: [],
    idOf: ({ data }) => data.note_id,
  }),
  stream: (id) => `case-note-${id}`,
  records: caseNoteRecords,
  tables: ['case_notes', 'cases'],
  members: (id) => recordAuthors(caseNoteRecords([id])),
  concerned: noMembers,
  decide({ row, version, told }, command) {
    const { subject_id: noteId, case_id: caseId = '', removed } = row;
    const status = removed ? 'removed' : 'published';
    const decided = caseNote.decide({ status, caseId, noteId, version, told }, command);
    return isRefusal(decided) ? (decided as Refused) : decided;
  },
};

export const provableCase = provableKind(caseKind, {
  CaseOpened: [
    'data.case_id',
    'data.author_id',
    'data.artifact_id',
    'data.policy_version',
    'personal.title',
    'personal.summary',
    'personal.objective',
    'personal.acceptance_criteria',
  ],
});
