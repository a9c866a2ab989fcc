import {
  foldStream,
  noteCommentStream,
  noteStream,
  screeningStream,
} from '../../../domain/guestbook/words.ts';
import type { Subject } from '../../../domain/moderation/subject.ts';
import { readsEvents } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { named, type Sql, sql } from '../../../platform/sql.ts';
import { tellingStreams } from '../../../projections/guestbook/note-facts.ts';
import type { NoteOwner } from '../../../projections/guestbook/notes.ts';
import {
  type ModeratorName,
  type NamedEvent,
  nameActors,
} from '../../../projections/moderation/moderators.ts';
import { takeOverStream } from '../claims/leases.ts';
import type { HistoryEvent, ThreadNote } from './contract.ts';

/** The most siblings, and the most replies, in a thread: as many as a person reads. */
export const THREAD = 50;

export interface ThreadRow {
  note_id: string;
  relation: ThreadNote['relation'];
  state: ThreadNote['state'];
  name: string | null;
  message: string | null;
  submitted_at: Date;
}

/** A note's parent, the newest other replies to the parent, and the newest replies to the note. */
export function listThread(noteId: string): Sql<ThreadRow> {
  return sql`WITH self AS (SELECT note_id, parent_id FROM notes WHERE note_id = ${noteId}),
    thread AS (
      SELECT n.*, 'parent' AS relation FROM notes n JOIN self ON n.note_id = self.parent_id
      UNION ALL (SELECT n.*, 'sibling' FROM notes n JOIN self ON n.parent_id = self.parent_id
        WHERE n.note_id <> self.note_id ORDER BY n.submitted_at DESC LIMIT ${THREAD})
      UNION ALL (SELECT n.*, 'reply' FROM notes n JOIN self ON n.parent_id = self.note_id
        ORDER BY n.submitted_at DESC LIMIT ${THREAD}))
    SELECT t.note_id, t.relation, t.state, coalesce(m.handle, t.name) AS name, t.message,
      t.submitted_at
    FROM thread t LEFT JOIN members m ON m.member_id = t.member_id
    ORDER BY t.submitted_at, t.note_id`;
}

export function threadBody(row: ThreadRow): ThreadNote {
  return {
    id: row.note_id,
    relation: row.relation,
    state: row.state,
    name: row.name ?? '',
    text: row.message ?? '',
    received_at: row.submitted_at.toISOString(),
  };
}

/** The stream of moderators' comments on a subject; the author of the subject owns it. */
export const commentStream = ({ type, id }: Subject): string => `comment-${type}-${id}`;

/** The events of a page of a history. */
const PAGE = 100;

/** The streams of an item: one owner has them all. */
export interface HistoryStreams {
  owner: string;
  streams: readonly string[];
  /** The note's own stream, if the item is one. */
  note: string | null;
  /** The past moment that was asked for; a cursor leads on at the same moment only. */
  asOf: string | undefined;
}

/** The streams of a note: its own, its screening, comments, claims taken over and folds, and notifications. */
export const noteStreams = (
  { note_id: id, owner_id }: NoteOwner,
  asOf?: string,
): HistoryStreams => ({
  owner: owner_id,
  streams: [
    noteStream(id),
    screeningStream(id),
    noteCommentStream(id),
    takeOverStream({ type: 'note', id }),
    foldStream(id),
  ],
  note: noteStream(id),
  asOf,
});

/**
 * The statement that reads a page of a history: the newest one, or the one at a cursor of an earlier
 * page of the same history.
 */
export function historyOf(
  item: HistoryStreams,
  cursor: string | undefined,
): Sql<HistoryRow> | Refusal<'invalid_cursor'> {
  if (cursor === undefined) return historyPage(item, Number.MAX_SAFE_INTEGER);
  const [, position] =
    /^history ([1-9]\d{0,15}) /.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return position && toHistoryCursor(item, Number(position)) === cursor
    ? historyPage(item, Number(position))
    : refuse('invalid_cursor');
}

/** The cursor of the page that ends before a position of the log. */
const toHistoryCursor = ({ streams, asOf }: HistoryStreams, position: number): string =>
  Buffer.from(`history ${position} ${streams[0]}${asOf === undefined ? '' : ` ${asOf}`}`).toString(
    'base64url',
  );

/**
 * SQL: the last version of the stream `given.stream` before the position $4, or 0. Positions rise with
 * the versions of a stream, so a binary search finds it with few lookups in a long stream.
 */
const LAST_BEFORE = `(WITH RECURSIVE search (low, high) AS (
      (SELECT CASE WHEN position < $4 THEN stream_version ELSE 0 END, stream_version FROM events
        WHERE owner_id = $1::uuid AND stream_id = given.stream ORDER BY stream_version DESC LIMIT 1)
      UNION ALL
      SELECT CASE WHEN event.position < $4 THEN event.stream_version ELSE low END,
        CASE WHEN event.position < $4 THEN high ELSE (low + high + 1) / 2 - 1 END
      FROM search CROSS JOIN LATERAL (SELECT position, stream_version FROM events
        WHERE owner_id = $1::uuid AND stream_id = given.stream
          AND stream_version >= (low + high + 1) / 2 ORDER BY stream_version LIMIT 1) event
      WHERE low < high)
    SELECT low FROM search ORDER BY high - low LIMIT 1)`;

/** SQL: the streams that notify of the acts on a note whose stream is $3. */
const TELLINGS = tellingStreams('$1::uuid', '$3::text');

/**
 * SQL: the first version of a stream that can be on a page. A LIMIT alone lets the planner read and sort all
 * of a long stream. Only the stream of a note's screenings has events that a history leaves out.
 */
const FIRST_OF_PAGE = `CASE WHEN given.stream LIKE 'screening-%' THEN 1 ELSE given.last - ${PAGE} END`;

type HistoryRow = RecordedEvent & { version: number };

/**
 * The newest events of an item before a position, newest first, and one more if there are others: of
 * each stream no more than these are read. A note's events have the version that the note had then; a
 * record's content, which may be large, is left out.
 */
function historyPage({ owner, streams, note }: HistoryStreams, before: number): Sql<HistoryRow> {
  return readsEvents(
    named(
      `WITH given AS MATERIALIZED (SELECT stream, ${LAST_BEFORE} AS last
      FROM unnest($2::text[] || ARRAY(${TELLINGS})) AS given (stream))
    SELECT owner_id, stream_id, stream_version, position, event_id, type, data,
      CASE WHEN $3::text IS NOT NULL OR actor->>'type' <> 'member' OR type IN ('RecordReported', 'MemberAppealed')
        THEN personal END AS personal, actor, recorded_at,
      CASE WHEN $3::text IS NULL OR stream_id = $3::text THEN stream_version
        ELSE (SELECT n.stream_version FROM events n WHERE n.owner_id = $1::uuid
          AND n.stream_id = $3::text AND n.position < e.position
          AND n.stream_version <= (SELECT last FROM given WHERE stream = $3::text)
          ORDER BY n.stream_version DESC LIMIT 1) END AS version
    FROM given CROSS JOIN LATERAL (SELECT * FROM events
      WHERE owner_id = $1::uuid AND stream_id = given.stream AND type <> 'NoteFingerprinted'
        AND stream_version BETWEEN ${FIRST_OF_PAGE} AND given.last
      ORDER BY stream_version DESC LIMIT ${PAGE + 1}) e
    ORDER BY position DESC LIMIT ${PAGE + 1}`,
      [owner, streams, note, before],
    ),
  );
}

/** A page of a history, oldest first, and the cursor of the page before it. */
export function historyBodies(
  item: HistoryStreams,
  rows: readonly HistoryRow[],
  moderators: readonly ModeratorName[],
): { history: HistoryEvent[]; history_before: string | null } {
  const page = nameActors(rows.slice(0, PAGE), moderators).reverse();
  const [oldest] = page;
  return {
    history: page.map((event) => ({ ...historyBody(event), version: event.version })),
    history_before: rows.length > PAGE && oldest ? toHistoryCursor(item, oldest.position) : null,
  };
}

/** An event as moderators read it: actor, time, facts and text. */
export function historyBody(event: NamedEvent): HistoryEvent {
  const { actor, actor_name } = event;
  const { note_id: _, ...data } = event.data as Record<string, unknown>;
  return {
    event_id: event.event_id,
    version: event.stream_version,
    type: event.type,
    at: event.recorded_at.toISOString(),
    actor: { ...actor, ...(actor_name === null ? {} : { name: actor_name }) },
    data,
    text: textOf(event),
  };
}

function textOf({ personal }: Pick<RecordedEvent, 'personal'>): string | null {
  const said = (personal ?? {}) as Record<string, string | null | undefined>;
  return said.message ?? said.why ?? said.details ?? said.text ?? null;
}
