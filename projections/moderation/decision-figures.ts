import * as noteEvents from '../../domain/guestbook/events.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import * as reportEvents from '../../domain/reports/events.ts';
import * as screeningEvents from '../../domain/screening/events.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { defineBatch } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { defineHandlers, defineProjection } from '../projection.ts';
import { type RecordKind, recordHandlers } from '../publications/record-events.ts';

const events = {
  ...noteEvents,
  ...screeningEvents,
  ...reportEvents,
  MemberDeactivated: membershipEvents.MemberDeactivated,
} as const;

/** SQL that reads the decisions on the notes `given` as rows of `decision_figures`, with their policy. */
const decidedNotes = (given: string): string => `
  SELECT d.event_id, d.note_id, d.decided_at, d.moderator_id, d.decision, coalesce(d.policy, '') AS policy,
    -- A note that was imported as reviewed never waited.
    CASE WHEN d.decision IN ('approved', 'rejected') AND d.decided_at > n.submitted_at
      THEN round(extract(epoch FROM d.decided_at - n.submitted_at))::int END AS age,
    round(extract(epoch FROM d.decided_at - d.claimed_at))::int AS handling,
    d.undone_at IS NOT NULL AS undone,
    d.undone_at IS NOT NULL OR EXISTS (
      SELECT FROM (SELECT * FROM note_decisions WHERE note_id = d.note_id
        AND decided_at > d.decided_at OFFSET 0) later
      WHERE later.undone_at IS NULL
        AND CASE d.decision WHEN 'approved' THEN later.decision = 'removed'
          WHEN 'rejected' THEN later.decision IN ('restored', 'granted')
          WHEN 'removed' THEN later.decision IN ('restored', 'granted') END) AS overturned,
    found.codes AS findings,
    CASE WHEN found.codes IS NOT NULL AND n.state IN ('approved', 'rejected', 'removed')
      THEN n.state <> 'approved' END AS confirmed
  FROM (SELECT DISTINCT note_id FROM ${given}) note
    CROSS JOIN LATERAL (SELECT * FROM note_decisions WHERE note_id = note.note_id
      AND decision NOT IN ('deferred', 'escalated') OFFSET 0) d
    CROSS JOIN LATERAL (SELECT submitted_at, state FROM notes
      WHERE note_id = note.note_id OFFSET 0) n
    CROSS JOIN LATERAL (SELECT array_agg(code ORDER BY code) AS codes FROM note_findings
      WHERE note_id = note.note_id OFFSET 0) found`;

/** The same for the records `given`. The age of a decision is that of the oldest report that it settled. */
const decidedRecords = (given: string): string => `
  SELECT d.event_id, NULL::uuid AS note_id, d.decided_at, d.moderator_id, d.decision,
    coalesce(d.policy, '') AS policy,
    (SELECT round(extract(epoch FROM d.decided_at - min(r.reported_at)))::int
      FROM record_reports r WHERE r.subject_type = d.subject_type AND r.subject_id = d.subject_id
        AND r.settled_by_event = d.event_id) AS age,
    round(extract(epoch FROM d.decided_at - d.claimed_at))::int AS handling,
    d.undone_at IS NOT NULL AS undone,
    d.undone_at IS NOT NULL OR d.decision = 'removed' AND EXISTS (
      SELECT FROM (SELECT * FROM record_decisions WHERE subject_type = d.subject_type
        AND subject_id = d.subject_id AND decided_at > d.decided_at OFFSET 0) later
      WHERE later.undone_at IS NULL AND later.decision = 'restored') AS overturned,
    NULL::text[] AS findings, NULL::boolean AS confirmed
  FROM (SELECT DISTINCT subject_type, subject_id FROM ${given}) record
    CROSS JOIN LATERAL (SELECT * FROM record_decisions
      WHERE subject_type = record.subject_type AND subject_id = record.subject_id OFFSET 0) d`;

const KEY = 'week, subject, outcome, policy, age';

/** The key in `moderation_weeks` of a decision, whose figures are `row`. Ages have two digits. */
const keyOf = (row: string, policy: string): string =>
  `date_trunc('week', ${row}.decided_at AT TIME ZONE 'UTC')::date AS week,
    CASE WHEN ${row}.note_id IS NULL THEN 'record' ELSE 'note' END AS subject,
    ${row}.decision AS outcome, ${policy} AS policy,
    CASE WHEN ${row}.age IS NULL THEN -1 WHEN ${row}.age < 100 THEN greatest(${row}.age, 0)
      ELSE trunc(${row}.age, 2 - length(${row}.age::text))::int END AS age`;

/**
 * SQL that writes the figures of `decisions`, and moves each decision to the count of its present
 * key. One statement for notes and records, so that two transactions lock the counts in one order.
 */
const writeFigures = (decisions: string): string => `WITH present AS MATERIALIZED (${decisions}),
  former AS MATERIALIZED (SELECT f.*, present.policy FROM present CROSS JOIN LATERAL
    (SELECT * FROM decision_figures WHERE event_id = present.event_id OFFSET 0) f),
  written AS (INSERT INTO decision_figures AS figures (event_id, note_id, decided_at, moderator_id,
      decision, age, handling, undone, overturned, findings, confirmed)
    SELECT event_id, note_id, decided_at, moderator_id, decision, age, handling, undone, overturned,
      findings, confirmed FROM present
    ON CONFLICT (event_id) DO UPDATE SET age = excluded.age, undone = excluded.undone,
      overturned = excluded.overturned, findings = excluded.findings, confirmed = excluded.confirmed
    WHERE (figures.age, figures.undone, figures.overturned, figures.findings, figures.confirmed)
      IS DISTINCT FROM (excluded.age, excluded.undone, excluded.overturned, excluded.findings,
        excluded.confirmed))
  INSERT INTO moderation_weeks AS counts (${KEY}, count)
  SELECT ${KEY}, sum(change) FROM (
    SELECT ${keyOf('present', 'present.policy')}, 1 AS change FROM present WHERE NOT undone
    UNION ALL
    SELECT ${keyOf('former', 'former.policy')}, -1 FROM former WHERE NOT undone) changes
  GROUP BY ${KEY} HAVING sum(change) <> 0 ORDER BY ${KEY}
  ON CONFLICT (${KEY}) DO UPDATE SET count = counts.count + excluded.count`;

/** SQL that writes the figures and counts of the decisions on the notes `given`. */
export const figuresOfNotes = (given: string): string => writeFigures(decidedNotes(given));

const ofSubjects = defineBatch(
  'decision_figures',
  { note_id: 'uuid', subject_type: 'text', subject_id: 'uuid' },
  (given) => writeFigures(`${decidedNotes(given)} UNION ALL ${decidedRecords(given)}`),
);

const note = ({ data }: { data: { note_id: string } }): Sql =>
  ofSubjects({ note_id: data.note_id, subject_type: null, subject_id: null });
const record = (subject_type: string, subject_id: string): Sql =>
  ofSubjects({ note_id: null, subject_type, subject_id });
const ofRecord = (_event: RecordedEvent, type: string, id: string): Sql => record(type, id);

/** Handlers of events that may move an earlier decision to another count, and leave its former count at 0. */
export const decisionMoves = (kinds: readonly RecordKind[]) =>
  defineHandlers(events, {
    DecisionUndone: note,
    RecordReportsDismissed: ({ data }) => record(data.subject.type, data.subject.id),
    ...recordHandlers(kinds, { removed: ofRecord, restored: ofRecord, withdrawn: ofRecord }),
    // In an earlier release: ends all notes and reports of the member.
    MemberDeactivated: ({ owner_id, data }) =>
      data.in_batches
        ? []
        : [
            named(figuresOfNotes('notes WHERE member_id = $1'), [owner_id]),
            named(writeFigures(decidedRecords('record_decisions WHERE author_id = $1')), [
              owner_id,
            ]),
          ],
  });

/**
 * What the statistics say of each decision, in one narrow row, so that a period is read from an index
 * alone. It also keeps the counts of `moderation_weeks`. It comes after the read models of notes,
 * reports, decisions and screenings, whose rows of one subject it reads.
 * Decisions of one week, kind, policy and age wait for one another until they are committed.
 */
export const decisionFigures = (kinds: readonly RecordKind[]) =>
  defineProjection(events, {
    name: 'decision-figures',
    tables: ['decision_figures'],
    on: {
      ...decisionMoves(kinds),
      NoteCorrected: note,
      NoteApproved: note,
      NoteRejected: note,
      NoteRemoved: note,
      NoteRestored: note,
      ReportsDismissed: note,
      AppealGranted: note,
      AppealUpheld: note,
      NoteWithdrawn: note,
      NoteScreened: note,
    },
  });
