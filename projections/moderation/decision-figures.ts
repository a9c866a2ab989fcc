import * as artifactEvents from '../../domain/artifacts/events.ts';
import * as caseEvents from '../../domain/cases/events.ts';
import * as noteEvents from '../../domain/guestbook/events.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import * as profileEvents from '../../domain/profiles/events.ts';
import * as reportEvents from '../../domain/reports/events.ts';
import * as screeningEvents from '../../domain/screening/events.ts';
import { defineBatch } from '../../platform/batch-statements.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';

const events = {
  ...noteEvents,
  ...screeningEvents,
  ...reportEvents,
  ...profileEvents,
  ...artifactEvents,
  ...caseEvents,
  MemberDeactivated: membershipEvents.MemberDeactivated,
} as const;

const INTO = `INSERT INTO decision_figures AS former (event_id, note_id, decided_at, moderator_id,
    decision, age, handling, overturned, findings, confirmed)`;

/** Nothing else of a decision ever changes. */
const CHANGES = `ON CONFLICT (event_id) DO UPDATE SET age = excluded.age,
    overturned = excluded.overturned, findings = excluded.findings, confirmed = excluded.confirmed
  WHERE (former.age, former.overturned, former.findings, former.confirmed) IS DISTINCT FROM
    (excluded.age, excluded.overturned, excluded.findings, excluded.confirmed)`;

/** SQL that writes the figures of the decisions on the notes `given`, from the other read models. */
export const figuresOfNotes = (given: string): string => `${INTO}
  SELECT d.event_id, d.note_id, d.decided_at, d.moderator_id, d.decision,
    CASE WHEN d.decision IN ('approved', 'rejected')
      THEN round(extract(epoch FROM d.decided_at - n.submitted_at))::int END,
    round(extract(epoch FROM d.decided_at - d.claimed_at))::int,
    d.undone_at IS NOT NULL OR EXISTS (
      SELECT FROM (SELECT * FROM note_decisions WHERE note_id = d.note_id
        AND decided_at > d.decided_at OFFSET 0) later
      WHERE later.undone_at IS NULL
        AND CASE d.decision WHEN 'approved' THEN later.decision = 'removed'
          WHEN 'rejected' THEN later.decision IN ('restored', 'granted')
          WHEN 'removed' THEN later.decision IN ('restored', 'granted') END),
    found.codes,
    CASE WHEN found.codes IS NOT NULL AND n.state IN ('approved', 'rejected', 'removed')
      THEN n.state <> 'approved' END
  FROM (SELECT DISTINCT note_id FROM ${given}) note
    CROSS JOIN LATERAL (SELECT * FROM note_decisions WHERE note_id = note.note_id
      AND decision NOT IN ('deferred', 'escalated') OFFSET 0) d
    CROSS JOIN LATERAL (SELECT submitted_at, state FROM notes
      WHERE note_id = note.note_id OFFSET 0) n
    CROSS JOIN LATERAL (SELECT array_agg(code ORDER BY code) AS codes FROM note_findings
      WHERE note_id = note.note_id OFFSET 0) found
  ${CHANGES}`;

/** The same for the records `given`. The age of a decision is that of the oldest report that it settled. */
export const figuresOfRecords = (given: string): string => `${INTO}
  SELECT d.event_id, NULL, d.decided_at, d.moderator_id, d.decision,
    (SELECT round(extract(epoch FROM d.decided_at - min(r.reported_at)))::int
      FROM record_reports r WHERE r.subject_type = d.subject_type AND r.subject_id = d.subject_id
        AND r.settled_by_event = d.event_id),
    round(extract(epoch FROM d.decided_at - d.claimed_at))::int,
    d.undone_at IS NOT NULL OR d.decision = 'removed' AND EXISTS (
      SELECT FROM (SELECT * FROM record_decisions WHERE subject_type = d.subject_type
        AND subject_id = d.subject_id AND decided_at > d.decided_at OFFSET 0) later
      WHERE later.undone_at IS NULL AND later.decision = 'restored'),
    NULL, NULL
  FROM (SELECT DISTINCT subject_type, subject_id FROM ${given}) record
    CROSS JOIN LATERAL (SELECT * FROM record_decisions
      WHERE subject_type = record.subject_type AND subject_id = record.subject_id OFFSET 0) d
  ${CHANGES}`;

const ofNote = defineBatch('decision_figures', { note_id: 'uuid' }, figuresOfNotes);
const ofRecord = defineBatch(
  'decision_figures',
  { subject_type: 'text', subject_id: 'uuid' },
  figuresOfRecords,
);

const note = ({ data }: { data: { note_id: string } }): Sql => ofNote(data);
const record = (subject_type: string, subject_id: string): Sql =>
  ofRecord({ subject_type, subject_id });
const artifact = ({ data }: { data: { artifact_id: string } }) =>
  record('artifact', data.artifact_id);
const ofCase = ({ data }: { data: { case_id: string } }) => record('case', data.case_id);
const caseNote = ({ data }: { data: { note_id: string } }) => record('case_note', data.note_id);
const profile = ({ owner_id }: { owner_id: string }) => record('profile', owner_id);

/**
 * What the statistics say of each decision, in one narrow row, so that a period is read from an index
 * alone. It comes after the read models of notes, reports, decisions and screenings, whose rows of one
 * subject it reads; no other decision's row is written, so decisions do not wait for one another.
 */
export const decisionFigures = defineProjection(events, {
  name: 'decision-figures',
  tables: ['decision_figures'],
  on: {
    NoteCorrected: note,
    NoteApproved: note,
    NoteRejected: note,
    NoteRemoved: note,
    NoteRestored: note,
    ReportsDismissed: note,
    AppealGranted: note,
    AppealUpheld: note,
    DecisionUndone: note,
    NoteWithdrawn: note,
    NoteScreened: note,
    RecordReportsDismissed: ({ data }) => record(data.subject.type, data.subject.id),
    ProfileRemoved: profile,
    ProfileRestored: profile,
    ProfileWithdrawn: profile,
    ArtifactRemoved: artifact,
    ArtifactRestored: artifact,
    ArtifactWithdrawn: artifact,
    CaseRemoved: ofCase,
    CaseRestored: ofCase,
    CaseAuthorLeft: ofCase,
    CaseNoteRemoved: caseNote,
    CaseNoteRestored: caseNote,
    // In an earlier release: ends all notes and reports of the member.
    MemberDeactivated: ({ owner_id, data }) =>
      data.in_batches
        ? []
        : [
            named(figuresOfNotes('notes WHERE member_id = $1'), [owner_id]),
            named(figuresOfRecords('record_decisions WHERE author_id = $1'), [owner_id]),
          ],
  },
});
