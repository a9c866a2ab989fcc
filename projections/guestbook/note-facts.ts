import type { DecisionTold } from '../../domain/guestbook/events.ts';
import { noteStream } from '../../domain/guestbook/words.ts';
import { readsEvents } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { loadAfter, type Rows } from '../../platform/eventstore/load.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { LostRace } from '../../platform/eventstore/transaction.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { type NoteOwner, notesByOwner } from './notes.ts';

const COLUMNS = `owner_id, stream_id, stream_version, position, event_id, type, data,
  NULL::jsonb AS personal, actor, recorded_at`;

/** The columns of an event, with the words of a moderator to the author. */
const WITH_WORDS = COLUMNS.replace(
  'NULL::jsonb',
  "CASE WHEN type IN ('NoteRejected', 'NoteRemoved') THEN personal END",
);

/**
 * SQL: the events of a note's stream other than reports, of which it may have many: an index finds
 * what is behind the first 100 events (migration 0024).
 */
export const eventsBesideReports = (columns: string, owner: string, stream: string): string =>
  `SELECT ${columns} FROM events WHERE owner_id = ${owner} AND stream_id = ${stream}
      AND stream_version <= 100 AND type <> 'NoteReported'
    UNION ALL SELECT ${columns} FROM events WHERE owner_id = ${owner} AND stream_id = ${stream}
      AND stream_version > 100 AND stream_id LIKE 'note-%' AND type <> 'NoteReported'`;

/** Which settled reports a command needs besides the open ones. */
export interface SettledReportsOf {
  /** Those that these events settled. */
  events?: readonly string[];
  /** The oldest of those that each of these decisions settled: its undo names no more. */
  undone?: readonly string[];
  /** Those that decisions of these kinds settled. */
  decisions?: readonly ('rejected' | 'kept')[];
}

/** A note to decide on, and the reports that the decision may need. */
export interface NoteToDecide extends NoteOwner {
  parent_id: string | null;
  reports: string[];
}

/**
 * SQL: the ids of those reports on the note `n`, among them the oldest that a refusal settled, which the
 * undo of a granted appeal names. A dismissal may have settled thousands.
 */
const REPORTS = `SELECT report_id::text FROM note_reports
      WHERE note_id = n.note_id AND state = 'open'
    UNION SELECT report.report_id::text FROM note_decisions d
      CROSS JOIN LATERAL (SELECT report_id FROM note_reports
        WHERE settled_by_event = d.event_id OFFSET 0) report
      WHERE d.note_id = n.note_id AND (d.event_id IN (SELECT unnest($2::uuid[]))
        OR d.decision IN (SELECT unnest($3::text[])))
    UNION SELECT report.report_id::text FROM (
        SELECT a.of FROM note_appeals a WHERE a.note_id = n.note_id
        UNION ALL SELECT d.event_id FROM note_decisions d
          WHERE d.note_id = n.note_id AND d.event_id IN (SELECT unnest($4::uuid[]))) settling
      CROSS JOIN LATERAL (SELECT report_id FROM note_reports
        WHERE settled_by_event = settling.of ORDER BY reported_at LIMIT 1) report`;

const NOTES_TO_DECIDE = `SELECT n.note_id, n.owner_id, n.member_id, n.parent_id, ARRAY(${REPORTS}) AS reports
  FROM notes n WHERE n.note_id = ANY($1::uuid[])`;

/** Finds the owners and parents of notes, which never change, and the reports that a decision may need. */
export const notesToDecide = (
  noteIds: readonly string[],
  { events = [], undone = [], decisions = [] }: SettledReportsOf,
): Sql<NoteToDecide> => named(NOTES_TO_DECIDE, [noteIds, events, decisions, undone]);

const EVENT_TYPES: Readonly<Record<string, string>> = {
  kept: 'ReportsDismissed',
  rejected: 'NoteRejected',
};

/**
 * SQL: the events of `beside`. A dismissal lists all reports that it settled; where they are not needed,
 * the list is as good as empty, and is not read.
 */
const BESIDE = `SELECT owner_id, stream_id, stream_version, position, event_id, type,
    CASE WHEN type = 'ReportsDismissed' AND event_id NOT IN (SELECT unnest($3::uuid[]))
        AND type NOT IN (SELECT unnest($4::text[]))
      THEN '{"reports": [], "undoable": true}'::jsonb ELSE data END AS data,
    personal, actor, recorded_at FROM beside`;

/** SQL: the given reports, and the last event of each stream if it is one, for the stream's version. */
const GIVEN_REPORTS = `SELECT unnest($5::text[]) AS report_id
    UNION SELECT last.data->>'report_id' FROM given CROSS JOIN LATERAL
      (SELECT type, data FROM events WHERE owner_id = $1::uuid AND stream_id = given.stream
        ORDER BY stream_version DESC LIMIT 1) last WHERE last.type = 'NoteReported'`;

const factsText = (columns: string): string =>
  `WITH given AS MATERIALIZED (SELECT 'note-' || note_id AS stream
      FROM unnest($2::uuid[]) given (note_id)),
    beside AS MATERIALIZED (SELECT event.* FROM given CROSS JOIN LATERAL
      (${eventsBesideReports(columns, '$1::uuid', 'given.stream')} OFFSET 0) event)
  ${BESIDE}
  UNION ALL SELECT event.* FROM (${GIVEN_REPORTS}) report CROSS JOIN LATERAL (SELECT ${columns}
      FROM events WHERE owner_id = $1::uuid AND type = 'NoteReported'
        AND data->>'report_id' = report.report_id OFFSET 0) event
  ORDER BY stream_id, stream_version`;

const FACTS = factsText(COLUMNS);
const FACTS_WITH_WORDS = factsText(WITH_WORDS);

const factsOf = (
  text: string,
  notes: readonly NoteToDecide[],
  { events = [], undone = [], decisions = [] }: SettledReportsOf,
): Sql<RecordedEvent>[] =>
  notesByOwner(notes).map(([{ id }, own]) => {
    const noteIds = own.map(({ note_id }) => note_id);
    const types = decisions.map((decision) => EVENT_TYPES[decision]);
    const reports = own.flatMap((note) => note.reports);
    return readsEvents(named(text, [id, noteIds, [...events, ...undone], types, reports]));
  });

/**
 * Loads what decides on notes: the events of their streams, without settled reports, of which there may
 * be thousands. Every decision follows from them as from the whole streams, if it needs no more settled
 * reports than `settled` says. Reports themselves are decided by rows (`reportCommand`).
 */
export const noteFacts = (noteIds: readonly string[], settled: SettledReportsOf = {}) =>
  loadAfter(notesToDecide(noteIds, settled), (found) => factsOfFound(found, noteIds, settled));

/** Loads the same, with the moderators' words to the authors. */
export const noteFactsWithWords = (noteIds: readonly string[], settled: SettledReportsOf) =>
  loadAfter(notesToDecide(noteIds, settled), (found) =>
    factsOfFound(found, noteIds, settled, FACTS_WITH_WORDS),
  );

/** Loads what `noteFacts` does of notes that were found, and the notes again under the locks. */
export const factsOfFound = (
  notes: readonly NoteToDecide[],
  noteIds: readonly string[],
  settled: SettledReportsOf,
  text = FACTS,
) => ({ found: factsOf(text, notes, settled), notes: notesToDecide(noteIds, settled) });

/**
 * The events of `noteFacts`, one stream after the other. The reports were found before the locks were
 * taken; throws `LostRace` if one that is needed has come since.
 */
export function currentFacts({
  found,
  notes,
}: Rows<ReturnType<typeof noteFacts>>): RecordedEvent[] {
  const events = found.flat();
  const read = new Set(events.map(({ data }) => (data as { report_id?: string }).report_id));
  if (notes.some(({ reports }) => reports.some((id) => !read.has(id))))
    throw new LostRace('a report came before the locks were taken');
  return events;
}

/** SQL: the streams that notify of the acts on a note with this stream; reports have none. */
export const tellingStreams = (owner: string, stream: string): string =>
  eventsBesideReports(`'telling-' || event_id`, owner, stream);

/** Reads the notifications of the acts on a note, without the reports that they answer. */
export const readTellings = (
  { id }: Owner,
  noteId: string,
): Sql<RecordedEvent<typeof DecisionTold>> =>
  readsEvents(
    named(
      `SELECT owner_id, stream_id, stream_version, position, event_id, type,
        data || '{"reports": []}' AS data, personal, actor, recorded_at
      FROM events WHERE owner_id = $1::uuid
        AND stream_id = ANY(ARRAY(${tellingStreams('$1::uuid', '$2::text')}))`,
      [id, noteStream(noteId)],
    ),
  );
