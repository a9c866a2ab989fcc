import { LEADS } from '../../../domain/moderation/roles.ts';
import { hasEnded, stays } from '../../../projections/membership/ending.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { type ClaimView, hasBothTiers, VIEW_SHAPES, type Viewer, where } from '../queue/queue.ts';
import { isUsedUp } from './claim-times.ts';

/**
 * Selects and locks the first unclaimed items of a view: `SELECT subject_type, note_id …`; `$1` is
 * the moderator. NOT IN hashes the leases once, however many items are skipped; NOT EXISTS would
 * look up each lease, by a table scan if the table was never analysed. `count` is part of the SQL
 * text, so that the planner knows it. `ownRow`, if not null, skips the notes that the row of another represents.
 */
export function nextClaimable(
  view: ClaimView,
  viewer: Viewer,
  count: number,
  openAppeals: string,
  ownRow: string | null,
): string {
  const notes = freeNotes(view, viewer, count, ownRow);
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

/** An appeal needs a second moderator, so appeals against the caller's decisions are skipped. */
function freeNotes(
  view: ClaimView,
  { role }: Viewer,
  count: number,
  ownRow: string | null,
): string {
  const { at } = VIEW_SHAPES[view];
  const tiers = hasBothTiers(view, role) ? 'n.tier, ' : '';
  const others = view === 'appeals' ? 'AND n.settled_by IS DISTINCT FROM $1' : '';
  return `SELECT 'note' AS subject_type, n.note_id, ${at} AS at FROM notes n
    WHERE ${where(view, role)} ${others} ${ownRow ? `AND ${ownRow}` : ''} AND NOT ${hasEnded('n')}
      AND n.note_id NOT IN (SELECT note_id ${LIVE} = 'note')
      AND n.note_id NOT IN (SELECT note_id ${USED_UP} = 'note')
    ORDER BY ${tiers}${at}, n.note_id LIMIT ${count} FOR UPDATE OF n SKIP LOCKED`;
}

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
