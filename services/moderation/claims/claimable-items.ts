import { LEADS } from '../../../domain/moderation/roles.ts';
import type { Subject } from '../../../domain/moderation/subject.ts';
import { memberOwner } from '../../../domain/owners.ts';
import { MAX_BATCH } from '../../../platform/batcher.ts';
import type { Owner } from '../../../platform/eventstore/owner.ts';
import type { Sql } from '../../../platform/sql.ts';
import { noteOwners, ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { findMember, hasEnded, stays } from '../../../projections/membership/members.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import { noMembers, type PublicationKind } from '../../publications/publication-kind.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { type ClaimView, hasBothTiers, VIEW_SHAPES, type Viewer, where } from '../queue/queue.ts';
import { FOLD_TABLES, ownRows } from '../queue/queue-page.ts';
import { isUsedUp } from './claim-times.ts';

/**
 * Selects and locks the first unclaimed items of a view: `SELECT subject_type, note_id …`; `$1` is
 * the moderator. NOT IN hashes the leases once, however many items are skipped; NOT EXISTS would
 * look up each lease, by a table scan if the table was never analysed. `count` is part of the SQL
 * text, so that the planner knows it. In `todo`, the notes of a fold share one row.
 */
export function nextClaimable(
  view: ClaimView,
  viewer: Viewer,
  count: number,
  openAppeals: string,
): string {
  const notes = view === 'todo' ? freeRows(viewer, count) : freeNotes(view, viewer, count);
  // PostgreSQL cannot lock the rows of a UNION, so each subquery locks its own rows.
  const others =
    view === 'reported'
      ? freeRecords(count)
      : view === 'appeals' && LEADS.includes(viewer.role)
        ? freeMembers(openAppeals, count)
        : null;
  return others
    ? `SELECT subject_type, note_id FROM (SELECT * FROM (${notes}) notes
        UNION ALL SELECT * FROM (${others}) others) free
      ORDER BY at, note_id LIMIT ${count}`
    : `SELECT subject_type, note_id FROM (${notes}) free`;
}

const LIVE = `FROM note_leases WHERE ${isLiveLease()} AND subject_type`;

/** What the moderator has claimed for too long of late. */
const USED_UP = `FROM claim_times t WHERE t.moderator_id = $1 AND ${isUsedUp('t')}
  AND t.subject_type`;

const IS_UNCLAIMED = `NOT ${hasEnded('n')}
      AND n.note_id NOT IN (SELECT note_id ${LIVE} = 'note')`;

const IS_FREE = `${IS_UNCLAIMED}
      AND n.note_id NOT IN (SELECT note_id ${USED_UP} = 'note')`;

/** An appeal needs a second moderator, so appeals against the caller's decisions are skipped. */
function freeNotes(view: Exclude<ClaimView, 'todo'>, { role }: Viewer, count: number): string {
  const { at } = VIEW_SHAPES[view];
  const others = view === 'appeals' ? 'AND n.settled_by IS DISTINCT FROM $1' : '';
  return `SELECT 'note' AS subject_type, n.note_id, ${at} AS at FROM notes n
    WHERE ${where(view, role)} ${others} AND ${IS_FREE}
    ORDER BY ${at}, n.note_id LIMIT ${count} FOR UPDATE OF n SKIP LOCKED`;
}

/** Free rows beyond `count`, in case that others lock the first ones: more than moderators claim in one moment. */
const SPARE_ROWS = 100;

/**
 * Each list of rows is scanned along its index. The first rows of all are then locked one by one, in their order, until
 * enough are: a lock on each list would keep rows from others that this claim does not take.
 */
function freeRows(
  { role }: Viewer,
  most: number,
  count: number | string = most,
  isFree = IS_FREE,
): string {
  const { at } = VIEW_SHAPES.todo;
  const waits = `${where('todo', role)} AND ${isFree}`;
  const lists = ownRows(
    hasBothTiers('todo', role),
    (conditions) => `SELECT n.note_id, n.tier, ${at} AS at FROM notes n
      WHERE ${[waits, ...conditions].join(' AND ')} ORDER BY n.tier, ${at}, n.note_id LIMIT ${most + SPARE_ROWS}`,
  );
  return `WITH RECURSIVE ${FOLD_TABLES} SELECT 'note' AS subject_type, first.note_id, first.at
    FROM (SELECT * FROM ((${lists.join(') UNION ALL (')})) each
        ORDER BY tier, at, note_id LIMIT ${most + SPARE_ROWS}) first
      CROSS JOIN LATERAL (SELECT FROM (SELECT * FROM notes WHERE note_id = first.note_id OFFSET 0) n
        WHERE ${where('todo', role)} FOR UPDATE OF n SKIP LOCKED) locked
    LIMIT ${count}`;
}

/**
 * Selects and locks the first unclaimed notes of `todo` for several moderators of one role, `count` in SQL. Of what some of
 * them have used up, `leaseForMany` leases nothing to them.
 */
export const nextOfMany = (viewer: Viewer, count: string): string =>
  freeRows(viewer, MAX_BATCH, count, IS_UNCLAIMED);

const freeRecords = (count: number): string =>
  `SELECT w.subject_type, w.subject_id, w.reported_at FROM reported_records w
    WHERE w.reported_at IS NOT NULL AND ${stays('w.author_id')}
      AND (w.subject_type, w.subject_id) NOT IN (SELECT subject_type, note_id ${LIVE} <> 'note')
      AND (w.subject_type, w.subject_id) NOT IN (SELECT subject_type, note_id ${USED_UP} <> 'note')
    ORDER BY w.reported_at, w.subject_id LIMIT ${count} FOR UPDATE OF w SKIP LOCKED`;

/** The appeals of disabled members that the moderator may decide. */
const freeMembers = (openAppeals: string, count: number): string =>
  `SELECT 'member' AS subject_type, free.member_id AS note_id, free.opened_at AS at FROM (
    ${openAppeals} AND d.moderator_id IS DISTINCT FROM $1
      AND a.member_id NOT IN (SELECT note_id ${LIVE} = 'member')
      AND a.member_id NOT IN (SELECT note_id ${USED_UP} = 'member')
    ORDER BY a.opened_at, a.member_id LIMIT ${count} FOR UPDATE OF a SKIP LOCKED) free`;

interface OwnerRead {
  find: Sql<object>;
  /** The owner in what `find` read; undefined if there is no such subject. */
  from(rows: readonly object[]): Owner | undefined;
}

const read = <Row extends object>(find: Sql<Row>, toOwner: (row: Row) => Owner): OwnerRead => ({
  find,
  from: ([row]) => row && toOwner(row as Row),
});

const ofMember = ({ member_id }: { member_id: string }) => memberOwner(member_id);

/** Finds who owns the streams of something that moderators review: its author, or the note of a guest. */
export function readOwner({ type, id }: Subject, kinds: readonly PublicationKind[]): OwnerRead {
  if (type === 'note') return read(noteOwners([id]), ownerOfNote);
  if (type === 'member') return read(findMember(id), ofMember);
  const kind = kinds.find((one) => one.type === type);
  return read(kind ? recordAuthors(kind.records([id])) : noMembers(), ofMember);
}
