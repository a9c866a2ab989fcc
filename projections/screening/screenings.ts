import * as noteEvents from '../../domain/guestbook/events.ts';
import * as screeningEvents from '../../domain/screening/events.ts';
import type { Band, Finding } from '../../domain/screening/rules.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineBatch, defineInsert } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection, type EventOf } from '../projection.ts';

const events = { ...screeningEvents, ...noteEvents };

type Fingerprinted = EventOf<typeof events, 'NoteFingerprinted'>;

const writeScreening = defineInsert(
  'note_screenings',
  {
    note_id: 'uuid',
    rules_version: 'int',
    band: 'text',
    findings: 'jsonb',
    words: 'jsonb',
    spans: 'jsonb',
    screened_at: 'timestamptz',
  },
  {
    key: ['note_id'],
    conflict: `DO UPDATE SET rules_version = excluded.rules_version, band = excluded.band,
      findings = excluded.findings, words = excluded.words, spans = excluded.spans,
      screened_at = excluded.screened_at`,
  },
);

/** The latest screening of each note: its findings, and the hashes that find similar notes. */
export const screenings = defineProjection(events, {
  name: 'screenings',
  tables: ['note_screenings', 'note_findings', 'note_fingerprints'],
  texts: [{ table: 'note_screenings', columns: ['words'] }],
  on: {
    NoteScreened: ({ stream_version, data, personal, recorded_at }) => [
      writeScreening({
        note_id: data.note_id,
        rules_version: data.rules_version,
        band: data.band,
        findings: data.findings,
        words: personal?.words,
        spans: personal?.spans,
        screened_at: recorded_at,
      }),
      ...(stream_version > 1 ? [dropFindings(data.note_id), dropFingerprints(data.note_id)] : []),
      ...(data.findings.length > 0
        ? [insertFindings({ note_id: data.note_id, codes: data.findings.map(({ code }) => code) })]
        : []),
      insertFingerprints({
        note_id: data.note_id,
        screened_at: recorded_at,
        hashes: hashesOf(personal),
      }),
    ],
    NoteFingerprinted: ({ data, personal, recorded_at }) => [
      insertFingerprints({
        note_id: data.note_id,
        screened_at: recorded_at,
        hashes: hashesOf(personal),
      }),
    ],
    // What was found in the former text does not count any more.
    NoteCorrected: ({ data }) => [
      sql`DELETE FROM note_screenings WHERE note_id = ${data.note_id}`,
      dropFindings(data.note_id),
      dropFingerprints(data.note_id),
    ],
    // Keeps the findings, but neither words of the note, nor their places, nor a hash of its text.
    NoteErased: ({ data }) => [
      sql`UPDATE note_screenings SET words = NULL, spans = NULL WHERE note_id = ${data.note_id}`,
      dropFingerprints(data.note_id),
    ],
  },
});

const insertFindings = defineBatch(
  'note_findings',
  { note_id: 'uuid', codes: 'text[]' },
  (given) => `INSERT INTO note_findings (note_id, code)
    SELECT DISTINCT note_id, code FROM ${given}, unnest(codes::text[]) code`,
);

function dropFindings(noteId: string): Sql {
  return sql`DELETE FROM note_findings WHERE note_id = ${noteId}`;
}

function hashesOf(personal: Fingerprinted['personal']): string[] {
  return personal ? [personal.fingerprint.whole, ...personal.fingerprint.parts] : [];
}

const insertFingerprints = defineBatch(
  'note_fingerprints',
  { note_id: 'uuid', screened_at: 'timestamptz', hashes: 'bigint[]' },
  (given) => `INSERT INTO note_fingerprints (hash, screened_at, note_id)
    SELECT DISTINCT hash, screened_at, note_id FROM ${given}, unnest(hashes::bigint[]) hash`,
);

function dropFingerprints(noteId: string): Sql {
  return sql`DELETE FROM note_fingerprints WHERE note_id = ${noteId}`;
}

const MAX_LIKE = 50;
/** The entries of each hash among which `nearTo` finds look-alikes. */
export const NEAREST = 12;

/** Another note that shares a hash with this note. `message` is null if the whole text is equal. */
export interface LookAlikeRow {
  note_id: string;
  state: string;
  same: boolean;
  message: string | null;
}

/**
 * Finds notes that share a hash with this note: those with the same text, without it, and those
 * that share most parts, with their text. For each hash the index is read backwards, in its order,
 * for at most `most` (1000) or 50 entries, so a larger flood of one text costs no more. BETWEEN is
 * necessary: the planner assumes that an unknown hash is rare, and would fetch and sort every note
 * that has it.
 */
export function lookAlikes(
  noteId: string,
  wholes: readonly string[],
  parts: readonly string[],
  most: number,
): Sql<LookAlikeRow> {
  return sql`SELECT n.note_id, n.state, c.same, CASE WHEN c.same THEN NULL ELSE n.message END AS message
    FROM (
      SELECT f.note_id, true AS same FROM unnest(${wholes}::bigint[]) whole
      CROSS JOIN LATERAL (SELECT note_id FROM note_fingerprints WHERE hash BETWEEN whole AND whole
        ORDER BY hash DESC, screened_at DESC, note_id DESC LIMIT ${most}) f
      UNION ALL
      (SELECT f.note_id, false FROM unnest(${parts}::bigint[]) part
      CROSS JOIN LATERAL (SELECT note_id FROM note_fingerprints WHERE hash BETWEEN part AND part
        ORDER BY hash DESC, screened_at DESC, note_id DESC LIMIT ${MAX_LIKE}) f
      GROUP BY f.note_id ORDER BY count(*) DESC, f.note_id LIMIT ${MAX_LIKE})
    ) c JOIN notes n ON n.note_id = c.note_id
    WHERE n.note_id <> ${noteId} AND n.message IS NOT NULL`;
}

export interface LikeRow {
  /** The requested note. */
  of: string;
  note_id: string;
  state: 'pending' | 'approved' | 'rejected' | 'removed' | 'withdrawn';
  message: string;
}

/**
 * Finds, for each note, the notes that share most hashes with its latest screening. For each hash
 * only the 12 newest entries are read, so a flood of one text costs no more.
 */
export function nearTo(noteIds: readonly string[]): Sql<LikeRow> {
  return sql`SELECT asked.note_id AS of, n.note_id, n.state, n.message
    FROM unnest(${noteIds}::uuid[]) asked (note_id)
    CROSS JOIN LATERAL (
      SELECT f.note_id, count(*) AS shared
      FROM note_fingerprints own
      CROSS JOIN LATERAL (SELECT note_id FROM note_fingerprints
        WHERE hash BETWEEN own.hash AND own.hash
        ORDER BY hash DESC, screened_at DESC, note_id DESC LIMIT ${NEAREST}) f
      WHERE own.note_id = asked.note_id AND f.note_id <> asked.note_id
      GROUP BY f.note_id ORDER BY count(*) DESC, f.note_id LIMIT 10) c
    JOIN notes n ON n.note_id = c.note_id AND n.message IS NOT NULL`;
}

export interface NoteToScreen {
  note_id: string;
  /** `submitted_at` in UTC to the microsecond. */
  submitted: string;
}

/** Reads pending notes that rules of this version have not screened, oldest first. */
export function notesToScreen(
  rulesVersion: number,
  limit: number,
  after = { submitted: START_OLDEST.at, note_id: START_OLDEST.id },
): Sql<NoteToScreen> {
  return sql`SELECT n.note_id,
      to_char(n.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS submitted
    FROM notes n LEFT JOIN note_screenings s ON s.note_id = n.note_id
    WHERE n.state = 'pending' AND (s.rules_version IS NULL OR s.rules_version < ${rulesVersion})
      AND (n.submitted_at, n.note_id) > (${after.submitted}::timestamptz, ${after.note_id}::uuid)
    ORDER BY n.submitted_at, n.note_id LIMIT ${limit}`;
}

/** A screened note, what was found when it was screened, and what became of it. */
export interface ScreenedNoteRow {
  note_id: string;
  state: 'pending' | 'approved' | 'rejected' | 'removed' | 'withdrawn';
  /** A guest's name. */
  name: string | null;
  /** Null if the text was erased. */
  message: string | null;
  rules_version: number;
  band: Band;
  findings: Finding[];
  /** Seconds from the submission to the first decision in force; null without one. */
  waited: number | null;
  /** Seconds from the claim to that decision; null if it was not claimed. */
  handled: number | null;
  /** Whether a moderator granted an appeal of the author. */
  granted: boolean;
}

/**
 * Reads notes that were last screened in a period, in the order of their ids. The page is cut first, and each note is
 * looked up: a join in the order of the ids would read all notes before the page.
 */
export function screenedNotes(
  { from, to }: { from: Date | null; to: Date | null },
  limit: number,
  after = START_OLDEST.id,
): Sql<ScreenedNoteRow> {
  return sql`SELECT n.note_id, n.state, n.name, n.message, s.rules_version, s.band, s.findings,
      extract(epoch FROM d.decided_at - n.submitted_at)::float8 AS waited,
      extract(epoch FROM d.decided_at - d.claimed_at)::float8 AS handled,
      (SELECT true FROM note_appeals a WHERE a.note_id = n.note_id AND a.state = 'granted'
        LIMIT 1) IS TRUE AS granted
    FROM (SELECT note_id, rules_version, band, findings FROM note_screenings
      WHERE note_id > ${after}::uuid
        AND screened_at >= coalesce(${from}::timestamptz, '-infinity')
        AND screened_at < coalesce(${to}::timestamptz, 'infinity')
      ORDER BY note_id LIMIT ${limit}) s
    CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = s.note_id OFFSET 0) n
    LEFT JOIN LATERAL (SELECT decided_at, claimed_at FROM note_decisions
      WHERE note_id = n.note_id AND undone_at IS NULL AND decision IN ('approved', 'rejected')
      ORDER BY decided_at LIMIT 1) d ON true
    ORDER BY s.note_id`;
}
