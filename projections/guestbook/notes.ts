import * as events from '../../domain/guestbook/events.ts';
import type { Experience } from '../../domain/guestbook/words.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import { guestNoteOwner, memberOwner } from '../../domain/owners.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { fault } from '../../platform/fault.ts';
import type { KeysetPosition } from '../../platform/keyset-cursor.ts';
import { defineBatch, defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { toVector } from '../../platform/word-vector.ts';
import { hasEnded, noteStays } from '../membership/members.ts';
import { defineProjection, type EventOf } from '../projection.ts';
import { undone } from './undone-decision.ts';

type Settling =
  | EventOf<typeof events, 'NoteRejected'>
  | EventOf<typeof events, 'NoteRemoved'>
  | EventOf<typeof events, 'NoteWithdrawn'>;

/**
 * Moves a note to a state. A removed note keeps `approved_at`, its position among the public notes,
 * and `reported_at`, because an undo restores both.
 */
function settle(event: Settling, state: NoteRow['state']): Sql {
  const { data, actor, stream_version, recorded_at } = event;
  const by = actor.type === 'moderator' && !fault('wrong-row') ? actor.id : null;
  return sql`UPDATE notes SET state = ${state}, settled_at = ${recorded_at}, settled_by = ${by},
      gone_at = CASE state WHEN 'approved' THEN ${recorded_at} ELSE gone_at END,
      appeal = NULL, appealed_at = NULL, version = ${stream_version}
    WHERE note_id = ${data.note_id}`;
}

const insertNote = defineInsert(
  'notes',
  {
    note_id: 'uuid',
    owner_id: 'uuid',
    member_id: 'uuid',
    experience: 'text',
    attribution: 'text',
    parent_id: 'uuid',
    name: 'text',
    message: 'text',
    words: 'text::tsvector',
    state: 'text',
    version: 'int',
    submitted_at: 'timestamptz',
    written_at: 'timestamptz',
  },
  { key: ['note_id'] },
);

const approveNote = defineBatch(
  'notes',
  { note_id: 'uuid', by: 'uuid', at: 'timestamptz', version: 'int' },
  (given) => `UPDATE notes n SET state = 'approved', settled_at = given.at, settled_by = given.by,
      approved_at = coalesce(n.approved_at, given.at), gone_at = NULL, appeal = NULL, appealed_at = NULL,
      version = given.version,
      reported_at = CASE WHEN n.state IN ('rejected', 'removed') THEN NULL ELSE n.reported_at END
    FROM ${given} WHERE n.note_id = given.note_id`,
  ['note_id'],
);

type Publishing =
  | EventOf<typeof events, 'NoteApproved'>
  | EventOf<typeof events, 'NoteRestored'>
  | EventOf<typeof events, 'AppealGranted'>;

/** Publishes a note, at its former position if it was public before. */
function publish({ data, actor, stream_version, recorded_at }: Publishing): Sql {
  const by = actor.type === 'moderator' ? actor.id : null;
  return approveNote({ note_id: data.note_id, by, at: recorded_at, version: stream_version });
}

const heard = { ...events, MemberDeactivated: membershipEvents.MemberDeactivated } as const;

export const notes = defineProjection(heard, {
  name: 'notes',
  tables: ['notes'],
  texts: [{ table: 'notes', columns: ['name', 'message', 'words'] }],
  on: {
    NoteSubmitted: ({ owner_id, stream_version, data, personal, recorded_at }) =>
      insertNote({
        note_id: data.note_id,
        owner_id,
        member_id: data.member_id,
        experience: data.experience,
        attribution: data.attribution,
        parent_id: data.parent_id,
        name: personal?.name,
        message: personal?.message,
        words: toVector([personal?.message]),
        state: 'pending',
        version: stream_version,
        submitted_at: recorded_at,
        written_at: data.imported?.written_at,
      }),
    // Only members can correct a note, and their notes have no name.
    NoteCorrected: ({ stream_version, data, personal }) =>
      sql`UPDATE notes SET name = '', message = ${personal?.message ?? null},
        words = ${toVector([personal?.message])}::text::tsvector, corrections = corrections + 1,
        version = ${stream_version} WHERE note_id = ${data.note_id}`,
    NoteApproved: publish,
    NoteRestored: publish,
    AppealGranted: publish,
    NoteRejected: (event) => settle(event, 'rejected'),
    NoteRemoved: (event) => settle(event, 'removed'),
    NoteWithdrawn: (event) => settle(event, 'withdrawn'),
    DecisionUndone: undone,
    NoteEscalated: ({ stream_version, data }) =>
      sql`UPDATE notes SET tier = 'lead', deferred_until = NULL, version = ${stream_version}
        WHERE note_id = ${data.note_id}`,
    NoteDeferred: ({ stream_version, data }) =>
      sql`UPDATE notes SET deferred_until = ${data.until}, version = ${stream_version}
        WHERE note_id = ${data.note_id}`,
    NoteReported: ({ stream_version, data, recorded_at }) =>
      sql`UPDATE notes SET version = ${stream_version},
        reported_at = coalesce(reported_at, ${data.silent ? null : recorded_at})
        WHERE note_id = ${data.note_id}`,
    ReportsDismissed: ({ stream_version, data }) =>
      sql`UPDATE notes SET reported_at = ${data.open_since ?? null}, version = ${stream_version}
        WHERE note_id = ${data.note_id}`,
    AppealOpened: ({ stream_version, data, recorded_at }) =>
      sql`UPDATE notes SET appeal = 'open', appealed_at = ${recorded_at},
        version = ${stream_version} WHERE note_id = ${data.note_id}`,
    AppealUpheld: ({ stream_version, data }) =>
      sql`UPDATE notes SET appeal = 'upheld', appealed_at = NULL, version = ${stream_version}
        WHERE note_id = ${data.note_id}`,
    AppealPeriodEnded: ({ stream_version, data }) =>
      sql`UPDATE notes SET appeal = 'over', version = ${stream_version}
        WHERE note_id = ${data.note_id}`,
    NoteErased: ({ stream_version, data, recorded_at }) =>
      sql`UPDATE notes SET name = NULL, message = NULL, words = NULL, erased_at = ${recorded_at},
        appeal = nullif(appeal, 'open'), appealed_at = NULL, version = ${stream_version} WHERE note_id = ${data.note_id}`,
    // In an earlier release: withdraws and erases every note that does not stay public.
    MemberDeactivated: ({ owner_id, data, recorded_at }) =>
      data.in_batches
        ? []
        : sql`UPDATE notes SET name = NULL, message = NULL, words = NULL,
          appeal = nullif(appeal, 'open'), appealed_at = NULL,
          settled_at = CASE WHEN state IN ('pending', 'approved') THEN ${recorded_at} ELSE settled_at END,
          gone_at = CASE state WHEN 'approved' THEN ${recorded_at} ELSE gone_at END,
          state = CASE WHEN state IN ('pending', 'approved') THEN 'withdrawn' ELSE state END
        WHERE member_id = ${owner_id} AND erased_at IS NULL
          AND (state <> 'approved' OR ${data.erase_notes})`,
  },
});

export interface NoteRow {
  note_id: string;
  owner_id: string;
  member_id: string | null;
  experience: Experience;
  attribution: 'guest' | 'member';
  parent_id: string | null;
  name: string | null;
  message: string | null;
  state: 'pending' | 'approved' | 'rejected' | 'removed' | 'withdrawn';
  version: number;
  /** How often the author has corrected the text. */
  corrections: number;
  submitted_at: Date;
  /** When an imported note was written, as its source says; null for all others. */
  written_at: Date | null;
  approved_at: Date | null;
  tier: 'lead' | 'normal';
  deferred_until: Date | null;
  /** When the note entered its current state, for a public note again; null while it is pending. */
  settled_at: Date | null;
  /** Since when a note that was public is not; null for all others. */
  gone_at: Date | null;
  settled_by: string | null;
  /** Time of the oldest open report. */
  reported_at: Date | null;
  appeal: 'open' | 'upheld' | 'over' | null;
  appealed_at: Date | null;
  erased_at: Date | null;
}

/** Columns of a note as it reads once its author's account is closed; they replace those of `n.*`. */
const AS_ENDED = `CASE WHEN ${hasEnded('n')} AND n.state IN ('pending', 'approved')
      THEN 'withdrawn' ELSE n.state END AS state,
    CASE WHEN NOT ${hasEnded('n')} THEN n.message END AS message`;

const noteById = defineRead<NoteRow>(
  { note_id: 'uuid' },
  ({ note_id }) => `SELECT n.*, ${AS_ENDED} FROM notes n WHERE n.note_id = ${note_id}`,
);

/** Finds a note in any state. */
export const findNote = (noteId: string): Sql<NoteRow> => noteById({ note_id: noteId });

export type NoteOwner = Pick<NoteRow, 'note_id' | 'owner_id' | 'member_id'>;

/** The owner of a note's streams: its member, or the note itself if a guest wrote it. */
export const ownerOfNote = ({ owner_id, member_id }: NoteOwner): Owner =>
  member_id === null ? guestNoteOwner(owner_id) : memberOwner(owner_id);

/** Groups notes by their owner. */
export function notesByOwner<Note extends NoteOwner>(notes: readonly Note[]): [Owner, Note[]][] {
  const groups = Map.groupBy(notes, (note) => Object.values(ownerOfNote(note)).join(' '));
  return [...groups.values()].map((own) => [ownerOfNote(own[0] as Note), own]);
}

/** Finds the owners of notes, which never change. */
export function noteOwners(ids: readonly string[]): Sql<NoteOwner> {
  return sql`SELECT note_id, owner_id, member_id FROM notes WHERE note_id = ANY(${ids}::uuid[])`;
}

/** Finds a note with the database's clock, which says whether the undo window is over. */
export function findNoteNow(noteId: string): Sql<NoteRow & { now: Date }> {
  return named(
    `SELECT n.*, ${AS_ENDED}, clock_timestamp() AS now FROM notes n WHERE note_id = $1`,
    [noteId],
  );
}

/** SQL: when the note `n` was written, as the public reads it. */
export const WRITTEN_AT = 'coalesce(n.written_at, n.submitted_at) AS written_at';

const START: KeysetPosition = { at: 'infinity', id: '00000000-0000-0000-0000-000000000000' };

/** An approved note as the guestbook shows it. `handle` is null for a guest or a former member. */
export interface PublicNoteRow {
  note_id: string;
  experience: Experience;
  attribution: 'guest' | 'member';
  parent_id: string | null;
  name: string | null;
  message: string | null;
  handle: string | null;
  /** When it was submitted; of an imported note, when its source says that it was written. */
  written_at: Date;
  approved: string;
}

export interface VersionedNoteRow extends PublicNoteRow {
  /** Changes whenever the row of the note or of its author is written. */
  version: string;
}

/** The row of a note that an index found: a lookup for each, with any estimate of the page. */
export const LISTED_NOTE =
  'LATERAL (SELECT *, xmin FROM notes WHERE note_id = listed.note_id OFFSET 0) n';

/**
 * The page of public notes after `$2` and `$3`. The inner select needs an index alone, and so reads no row
 * of a closed account whose notes end.
 */
const pageOf = (where: string): string => `(SELECT note_id FROM notes
      WHERE state = 'approved' AND ${where} AND ${noteStays('member_id')}
        AND approved_at <= $2::timestamptz AND (approved_at < $2::timestamptz OR note_id > $3::uuid)
      ORDER BY approved_at DESC, note_id LIMIT $4) listed, ${LISTED_NOTE}`;

/** Reads approved top-level notes of an experience, newest approval first. */
export function approvedNotes(
  experience: string,
  limit: number,
  { at, id } = START,
): Sql<VersionedNoteRow> {
  return named(
    `SELECT n.note_id, n.experience, n.attribution, n.parent_id, n.name, n.message, m.handle,
      ${WRITTEN_AT}, concat_ws(' ', n.note_id, n.xmin, m.xmin) AS version,
      to_char(n.approved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS approved
    FROM ${pageOf(`parent_id IS NULL AND experience = $1`)}
      LEFT JOIN members m ON m.member_id = n.member_id
    ORDER BY n.approved_at DESC, n.note_id`,
    [experience, at, id, limit],
  );
}

/**
 * Reads the versions of the first approved notes as one text. As long as it is the same, so are the
 * notes.
 */
export function approvedVersions(experience: string, limit: number): Sql<{ versions: string }> {
  const { name, text, values } = approvedNotes(experience, limit);
  return {
    name: `versions-${name}`,
    text: `SELECT coalesce(string_agg(version, ' '), '') AS versions FROM (${text}) row`,
    values,
  };
}

/** Reads approved replies to a note, newest approval first. */
export function approvedReplies(
  parentId: string,
  limit: number,
  { at, id } = START,
): Sql<PublicNoteRow> {
  return named(
    `SELECT n.note_id, n.experience, n.attribution, n.parent_id, n.name, n.message, m.handle,
      ${WRITTEN_AT},
      to_char(n.approved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS approved
    FROM ${pageOf('parent_id = $1')} LEFT JOIN members m ON m.member_id = n.member_id
    ORDER BY n.approved_at DESC, n.note_id`,
    [parentId, at, id, limit],
  );
}

/** A public note, and since when it is public without a break. */
export interface SinceNoteRow extends Omit<PublicNoteRow, 'approved'> {
  public_since: Date;
}

const SINCE = `n.note_id, n.experience, n.attribution, n.parent_id, n.name, n.message, m.handle,
      ${WRITTEN_AT}`;

/** Reads the top-level notes of an experience that became public last, the last one first. */
export function latestNotes(experience: string, limit: number): Sql<SinceNoteRow> {
  return named(
    `SELECT ${SINCE}, n.settled_at AS public_since
    FROM (SELECT note_id FROM notes
        WHERE state = 'approved' AND parent_id IS NULL AND experience = $1
          AND ${noteStays('member_id')}
        ORDER BY parent_id, settled_at DESC, note_id LIMIT $2) listed, ${LISTED_NOTE}
      LEFT JOIN members m ON m.member_id = n.member_id
    ORDER BY n.settled_at DESC, n.note_id`,
    [experience, limit],
  );
}

/** Reads a public note and those of its replies that became public last, the last one first. */
export function latestOfThread(noteId: string, limit: number): Sql<SinceNoteRow> {
  return named(
    `SELECT ${SINCE}, greatest(n.settled_at, top.settled_at) AS public_since
    FROM notes top, LATERAL (SELECT replies.* FROM (SELECT note_id FROM notes r
          WHERE r.state = 'approved' AND r.experience = top.experience AND r.parent_id = top.note_id
            AND ${noteStays('r.member_id')}
          ORDER BY r.settled_at DESC, r.note_id LIMIT $2) listed,
          LATERAL (SELECT * FROM notes WHERE note_id = listed.note_id OFFSET 0) replies
        UNION ALL SELECT top.*) n
      LEFT JOIN members m ON m.member_id = n.member_id
    WHERE top.note_id = $1 AND top.state = 'approved' AND ${noteStays('top.member_id')}
    ORDER BY n.note_id = top.note_id, n.settled_at DESC, n.note_id`,
    [noteId, limit],
  );
}

export interface NoteWithParentRow extends Omit<PublicNoteRow, 'approved'> {
  owner_id: string;
  state: NoteRow['state'];
  /** Whether the note was ever public. */
  was_public: boolean;
  parent_state: NoteRow['state'] | null;
  parent_name: string | null;
  parent_attribution: 'guest' | 'member' | null;
  parent_handle: string | null;
  parent_message: string | null;
}

/** Whether a note is public, which a reply is only with the note that it replies to. */
export const isPublic = ({ state, parent_id, parent_state }: NoteWithParentRow): boolean =>
  state === 'approved' && (parent_id === null || parent_state === 'approved');

/** Finds a note in any state as the public may see it, with the note that it replies to. */
export function findNoteWithParent(noteId: string): Sql<NoteWithParentRow> {
  const state = (note: string) => `CASE WHEN ${hasEnded(note)} AND ${note}.state = 'approved'
      THEN 'withdrawn' ELSE ${note}.state END`;
  return named(
    `SELECT n.note_id, n.owner_id, n.experience, n.attribution, n.parent_id, n.name, n.message, m.handle,
      ${WRITTEN_AT}, ${state('n')} AS state, n.approved_at IS NOT NULL AS was_public,
      ${state('p')} AS parent_state,
      p.name AS parent_name, p.attribution AS parent_attribution, pm.handle AS parent_handle,
      p.message AS parent_message
    FROM notes n LEFT JOIN members m ON m.member_id = n.member_id
      LEFT JOIN notes p ON p.note_id = n.parent_id
      LEFT JOIN members pm ON pm.member_id = p.member_id
    WHERE n.note_id = $1`,
    [noteId],
  );
}

/** Finds the owner of a note, if everyone may read it. */
export function publicNoteOwner(noteId: string): Sql<{ owner_id: string }> {
  const isShown = (note: string) => `${note}.state = 'approved' AND NOT ${hasEnded(note)}`;
  return named(
    `SELECT n.owner_id FROM notes n LEFT JOIN notes p ON p.note_id = n.parent_id
    WHERE n.note_id = $1 AND ${isShown('n')} AND (n.parent_id IS NULL OR ${isShown('p')})`,
    [noteId],
  );
}
