import * as caseEvents from '../../domain/cases/events.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { eraseTexts } from '../erasable-texts.ts';
import { stays } from '../membership/members.ts';
import { defineProjection } from '../projection.ts';
import { NOTIFIED_STATE, type OwnRow, ownRecords } from '../publications/record-decisions.ts';
import type { RecordRow } from '../publications/records.ts';

const heard = { ...caseEvents, MemberDeactivated: membershipEvents.MemberDeactivated } as const;

const TEXTS = [
  { table: 'case_submissions', columns: ['summary'], member: 'member_id' },
  { table: 'case_reviews', columns: ['comment'], member: 'member_id' },
  { table: 'case_notes', columns: ['message'], member: 'member_id' },
] as const;

const insertSubmission = defineInsert('case_submissions', {
  submission_id: 'uuid',
  case_id: 'uuid',
  member_id: 'uuid',
  summary: 'text',
  artifact_id: 'uuid',
  created_at: 'timestamptz',
});

const insertReview = defineInsert('case_reviews', {
  review_id: 'uuid',
  case_id: 'uuid',
  submission_id: 'uuid',
  member_id: 'uuid',
  decision: 'text',
  binding: 'boolean',
  comment: 'text',
  created_at: 'timestamptz',
});

const insertNote = defineInsert('case_notes', {
  note_id: 'uuid',
  case_id: 'uuid',
  member_id: 'uuid',
  message: 'text',
  state: 'text',
  version: 'int',
  created_at: 'timestamptz',
});

/** What members contributed to any case: submissions, reviews and notes. */
export const caseRecord = defineProjection(heard, {
  name: 'case-record',
  tables: ['case_submissions', 'case_reviews', 'case_notes'],
  texts: TEXTS,
  on: {
    CaseSubmitted: ({ data, personal, recorded_at }) =>
      insertSubmission({
        submission_id: data.submission_id,
        case_id: data.case_id,
        member_id: data.member_id,
        summary: personal?.summary,
        artifact_id: data.artifact_id,
        created_at: recorded_at,
      }),
    CaseAccepted: ({ data }) =>
      sql`UPDATE case_submissions SET accepted = true WHERE submission_id = ${data.submission_id}`,
    CaseReviewed: ({ data, personal, recorded_at }) =>
      insertReview({
        review_id: data.review_id,
        case_id: data.case_id,
        submission_id: data.submission_id,
        member_id: data.member_id,
        decision: data.decision,
        binding: data.binding,
        comment: personal?.comment,
        created_at: recorded_at,
      }),
    CaseNoted: ({ owner_id, stream_version, data, personal, recorded_at }) =>
      insertNote({
        note_id: data.note_id,
        case_id: data.case_id,
        member_id: owner_id,
        message: personal?.message,
        state: 'published',
        version: stream_version,
        created_at: recorded_at,
      }),
    CaseNoteRemoved: ({ data, stream_version }) => noteIs('removed', data.note_id, stream_version),
    CaseNoteRemovalTold: ({ data, stream_version }) =>
      noteIs('removed', data.note_id, stream_version),
    CaseNoteRestored: ({ data, stream_version }) =>
      noteIs('published', data.note_id, stream_version),
    // In an earlier release: erases the member's texts on other members' cases.
    MemberDeactivated: ({ owner_id, data }) =>
      data.in_batches ? [] : TEXTS.map((text) => eraseTexts(text, owner_id)),
  },
});

function noteIs(state: 'published' | 'removed', noteId: string, version: number): Sql {
  return sql`UPDATE case_notes SET state = ${state}, version = ${version} WHERE note_id = ${noteId}`;
}

/** Times are ISO 8601 with milliseconds. A text is null once it was erased with its author. */
export interface CaseRecordRow {
  submissions: {
    id: string;
    member_id: string;
    summary: string | null;
    artifact_id: string | null;
    created_at: string;
  }[];
  reviews: {
    id: string;
    submission_id: string;
    member_id: string;
    decision: 'accept' | 'request_changes' | 'reject';
    binding: boolean;
    comment: string | null;
    created_at: string;
  }[];
  notes: { id: string; member_id: string; message: string; created_at: string }[];
}

/**
 * Reads the newest `limit` submissions, reviews and notes of a case, newest first. Removed and
 * erased notes are left out.
 */
export function findCaseRecord(caseId: string, limit: number): Sql<CaseRecordRow> {
  return named(
    `SELECT
    (SELECT coalesce(json_agg(json_build_object('id', submission_id, 'member_id', member_id,
          'summary', CASE WHEN ${stays('member_id')} THEN summary END, 'artifact_id', artifact_id,
          'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ORDER BY created_at DESC, submission_id DESC), '[]')
      FROM (SELECT * FROM case_submissions WHERE case_id = $1
        ORDER BY created_at DESC, submission_id DESC LIMIT $2) s) AS submissions,
    (SELECT coalesce(json_agg(json_build_object('id', review_id, 'submission_id', submission_id,
          'member_id', member_id, 'decision', decision, 'binding', binding, 'comment', CASE WHEN ${stays('member_id')} THEN comment END,
          'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ORDER BY created_at DESC, review_id DESC), '[]')
      FROM (SELECT * FROM case_reviews WHERE case_id = $1
        ORDER BY created_at DESC, review_id DESC LIMIT $2) r) AS reviews,
    (SELECT coalesce(json_agg(json_build_object('id', note_id, 'member_id', member_id,
          'message', message,
          'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ORDER BY created_at DESC, note_id DESC), '[]')
      FROM (SELECT * FROM case_notes
        WHERE case_id = $1 AND state = 'published' AND message IS NOT NULL
          AND ${stays('member_id')}
        ORDER BY created_at DESC, note_id DESC LIMIT $2) n) AS notes`,
    [caseId, limit],
  );
}

/** Reads a member's submissions, oldest first; at most `limit` after a position. */
export function caseSubmissions(
  memberId: string,
  limit: number,
  { at, id } = START_OLDEST,
): Sql<OwnRow> {
  return sql`SELECT submission_id AS id, case_id, summary, artifact_id, created_at,
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM case_submissions
    WHERE member_id = ${memberId} AND (created_at, submission_id) > (${at}::timestamptz, ${id}::uuid)
    ORDER BY created_at, submission_id LIMIT ${limit}`;
}

/** Reads a member's reviews, oldest first; at most `limit` after a position. */
export function caseReviews(
  memberId: string,
  limit: number,
  { at, id } = START_OLDEST,
): Sql<OwnRow> {
  return sql`SELECT review_id AS id, case_id, submission_id, decision, binding, comment, created_at,
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM case_reviews
    WHERE member_id = ${memberId} AND (created_at, review_id) > (${at}::timestamptz, ${id}::uuid)
    ORDER BY created_at, review_id LIMIT ${limit}`;
}

/** Reads a member's case notes, including removed ones, as the member may see them. */
export const caseNotes = ownRecords<OwnRow>({
  type: 'case_note',
  table: 'case_notes',
  id: 'note_id',
  member: 'member_id',
  removed: `state = 'removed'`,
  columns: `note_id AS id, case_id, message, ${NOTIFIED_STATE}, created_at`,
});

/**
 * Reads case notes as published records. A case note has the title of its case, is public while the case is, and disappears with its own
 * author or the author of the case.
 */
export function caseNoteRecords(ids: readonly string[]): Sql<RecordRow> {
  return named(
    `SELECT n.note_id AS subject_id, n.member_id AS author_id,
      CASE WHEN n.state = 'published' AND gone THEN 'withdrawn' ELSE n.state END AS state, gone,
      n.case_id, n.state = 'removed' AS removed, n.state = 'published' AND NOT gone AND NOT c.removed AS public,
      n.version, c.title, n.message AS text, n.created_at AS published_at
    FROM case_notes n JOIN cases c USING (case_id),
      LATERAL (SELECT c.author_gone OR n.message IS NULL OR NOT ${stays('c.author_id')}
        OR NOT ${stays('n.member_id')} AS gone) ends
    WHERE n.note_id = ANY($1::uuid[])`,
    [ids],
  );
}
