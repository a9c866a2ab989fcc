import type pg from 'pg';
import {
  noteCommentStream,
  noteStream,
  screeningStream,
} from '../../../domain/guestbook/streams.ts';
import type { Subject } from '../../../domain/moderation/subject.ts';
import { readsEvents } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { query } from '../../../platform/postgres/query.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { named, type Sql, sql } from '../../../platform/sql.ts';
import type { NoteOwner } from '../../../projections/guestbook/notes.ts';
import {
  type ModeratorName,
  type NamedEvent,
  nameActors,
} from '../../../projections/moderation/actor-names.ts';
import { takeOverStream } from '../claims/leases.ts';
import type { HistoryEvent, ThreadNote } from './contract.ts';

/** The most siblings, and the most replies, in a thread: as many as a person reads. */
const THREAD = 50;

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

/** The streams of an item: one owner has them all. `note` is the note's own stream, if the item is one. */
export interface HistoryStreams {
  owner: string;
  streams: readonly string[];
  note: string | null;
}

/** The streams of a note: its own, its screening, comments and claims taken over, and notifications. */
export const noteStreams = ({ note_id: id, owner_id }: NoteOwner): HistoryStreams => ({
  owner: owner_id,
  streams: [
    noteStream(id),
    screeningStream(id),
    noteCommentStream(id),
    takeOverStream({ type: 'note', id }),
  ],
  note: noteStream(id),
});

/**
 * The statement that reads a page of a history: the newest one, or the one `before` an event of the
 * item. Another event is an invalid cursor.
 */
export async function historyOf(
  pool: pg.Pool,
  item: HistoryStreams,
  before: string | undefined,
): Promise<Sql<HistoryRow> | Refusal<'invalid_cursor'>> {
  if (before === undefined) return historyPage(item, Number.MAX_SAFE_INTEGER);
  const [event] = await query(pool, positionIn(item, before));
  return event ? historyPage(item, event.position) : refuse('invalid_cursor');
}

/** The events of the owner $1 in the streams $2, and those that notify of an event of the note's stream $3. */
const OF_ITEM = `owner_id = $1::uuid AND stream_id = ANY($2::text[] || ARRAY(
    SELECT 'telling-' || event_id FROM events WHERE owner_id = $1::uuid AND stream_id = $3::text))`;

const positionIn = ({ owner, streams, note }: HistoryStreams, id: string) =>
  named<{ position: number }>(
    `SELECT position FROM events WHERE ${OF_ITEM} AND event_id::text = $4`,
    [owner, streams, note, id],
  );

type HistoryRow = RecordedEvent & { version: number };

/**
 * The newest events of an item before a position, newest first, and one more if there are others. A
 * note's events have the version that the note had then; a record's content, which may be large, is
 * left out.
 */
function historyPage({ owner, streams, note }: HistoryStreams, before: number): Sql<HistoryRow> {
  return readsEvents(
    named(
      `SELECT owner_id, stream_id, stream_version, position, event_id, type, data,
      CASE WHEN $3::text IS NOT NULL OR actor->>'type' <> 'member' OR type IN ('RecordReported', 'MemberAppealed')
        THEN personal END AS personal, actor, recorded_at,
      CASE WHEN $3::text IS NULL OR stream_id = $3::text THEN stream_version
        ELSE (SELECT max(n.stream_version) FROM events n WHERE n.owner_id = $1::uuid
          AND n.stream_id = $3::text AND n.position < e.position) END AS version
    FROM events e WHERE ${OF_ITEM} AND type <> 'NoteFingerprinted' AND position < $4
    ORDER BY position DESC LIMIT ${PAGE + 1}`,
      [owner, streams, note, before],
    ),
  );
}

/** A page of a history, oldest first, and the event before which the next page ends. */
export function historyBodies(
  rows: readonly HistoryRow[],
  moderators: readonly ModeratorName[],
): { history: HistoryEvent[]; history_before: string | null } {
  const page = nameActors(rows.slice(0, PAGE), moderators).reverse();
  return {
    history: page.map((event) => ({ ...historyBody(event), version: event.version })),
    history_before: rows.length > PAGE ? (page[0]?.event_id ?? null) : null,
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
