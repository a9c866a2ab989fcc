import * as events from '../services/cases/events.ts';
import { type Sql, sql } from '../services/eventstore/sql.ts';
import { defineProjection } from './projection.ts';

/** What members gave to a case: submissions, reviews and notes, whoever's the case is. */
export const caseRecord = defineProjection(events, {
  name: 'case-record',
  tables: ['case_submissions', 'case_reviews', 'case_notes'],
  on: {
    CaseSubmitted: ({ data, personal, recorded_at }) =>
      sql`INSERT INTO case_submissions
          (submission_id, case_id, member_id, summary, artifact_id, created_at)
        VALUES (${data.submission_id}, ${data.case_id}, ${data.member_id},
          ${personal?.summary ?? null}, ${data.artifact_id}, ${recorded_at})`,
    CaseReviewed: ({ data, personal, recorded_at }) =>
      sql`INSERT INTO case_reviews (review_id, case_id, submission_id, member_id, decision, binding,
          comment, created_at)
        VALUES (${data.review_id}, ${data.case_id}, ${data.submission_id}, ${data.member_id},
          ${data.decision}, ${data.binding}, ${personal?.comment ?? null}, ${recorded_at})`,
    CaseNoted: ({ owner_id, stream_version, data, personal, recorded_at }) =>
      sql`INSERT INTO case_notes (note_id, case_id, member_id, message, state, version, created_at)
        VALUES (${data.note_id}, ${data.case_id}, ${owner_id}, ${personal?.message ?? null},
          'published', ${stream_version}, ${recorded_at})`,
    CaseNoteRemoved: ({ data, stream_version }) => noteIs('removed', data.note_id, stream_version),
    CaseNoteRemovalTold: ({ data, stream_version }) =>
      noteIs('removed', data.note_id, stream_version),
    CaseNoteRestored: ({ data, stream_version }) =>
      noteIs('published', data.note_id, stream_version),
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

/** The newest `limit` of each, newest first; a note that was taken down or erased is not there. */
export function findCaseRecord(caseId: string, limit: number): Sql {
  return sql`SELECT
    (SELECT coalesce(json_agg(json_build_object('id', submission_id, 'member_id', member_id,
          'summary', summary, 'artifact_id', artifact_id,
          'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ORDER BY created_at DESC, submission_id DESC), '[]')
      FROM (SELECT * FROM case_submissions WHERE case_id = ${caseId}
        ORDER BY created_at DESC, submission_id DESC LIMIT ${limit}) s) AS submissions,
    (SELECT coalesce(json_agg(json_build_object('id', review_id, 'submission_id', submission_id,
          'member_id', member_id, 'decision', decision, 'binding', binding, 'comment', comment,
          'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ORDER BY created_at DESC, review_id DESC), '[]')
      FROM (SELECT * FROM case_reviews WHERE case_id = ${caseId}
        ORDER BY created_at DESC, review_id DESC LIMIT ${limit}) r) AS reviews,
    (SELECT coalesce(json_agg(json_build_object('id', note_id, 'member_id', member_id,
          'message', message,
          'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ORDER BY created_at DESC, note_id DESC), '[]')
      FROM (SELECT * FROM case_notes
        WHERE case_id = ${caseId} AND state = 'published' AND message IS NOT NULL
        ORDER BY created_at DESC, note_id DESC LIMIT ${limit}) n) AS notes`;
}

export interface RecordPlace {
  created_at: Date;
  id: string;
}

const START: RecordPlace = { created_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** What a member gave to cases, oldest first, after a place: for the export. */
export function submissionsOf(memberId: string, limit: number, after = START): Sql {
  return sql`SELECT submission_id AS id, case_id, summary, artifact_id, created_at
    FROM case_submissions WHERE member_id = ${memberId}
      AND (created_at, submission_id) > (${after.created_at}, ${after.id}::uuid)
    ORDER BY created_at, submission_id LIMIT ${limit}`;
}

export function reviewsOf(memberId: string, limit: number, after = START): Sql {
  return sql`SELECT review_id AS id, case_id, submission_id, decision, binding, comment, created_at
    FROM case_reviews WHERE member_id = ${memberId}
      AND (created_at, review_id) > (${after.created_at}, ${after.id}::uuid)
    ORDER BY created_at, review_id LIMIT ${limit}`;
}

/** With those that moderators took down. */
export function caseNotesOf(memberId: string, limit: number, after = START): Sql {
  return sql`SELECT note_id AS id, case_id, message, state, created_at
    FROM case_notes WHERE member_id = ${memberId}
      AND (created_at, note_id) > (${after.created_at}, ${after.id}::uuid)
    ORDER BY created_at, note_id LIMIT ${limit}`;
}

/** Takes a former member's texts out of the read models, as a rebuild from the erased log does. */
export function eraseCaseTexts(memberId: string): Sql[] {
  return [
    sql`UPDATE cases SET title = NULL, summary = NULL, objective = NULL, acceptance_criteria = NULL
      WHERE author_id = ${memberId}`,
    sql`UPDATE case_submissions SET summary = NULL WHERE member_id = ${memberId}`,
    sql`UPDATE case_reviews SET comment = NULL WHERE member_id = ${memberId}`,
    sql`UPDATE case_notes SET message = NULL WHERE member_id = ${memberId}`,
  ];
}
