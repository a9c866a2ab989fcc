import { type Command, defineCommand, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import type { MemberRead } from '../../platform/eventstore/load.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { locking, named, type Sql, sql } from '../../platform/sql.ts';
import type { NoteOwner, NoteRow } from '../../projections/guestbook/notes.ts';
import { hasEnded } from '../../projections/membership/members.ts';
import { isLiveLease } from '../publications/review-leases.ts';
import { loadNote } from './note-stream.ts';
import { notifyAuthorJobs } from './notify-author.ts';

/** The rule that the approval event names. */
export const FAST_LANE_RULE = 'five-approved-none-rejected-in-90-days';
const APPROVED = 5;

const authorOf = (noteId: string): MemberRead =>
  sql`SELECT member_id FROM notes WHERE note_id = ${noteId}`;

/** The author's record: a removal counts as a rejection; an undone decision does not count. */
const recordOf = (
  noteId: string,
): Sql<{ approved: number; rejected: boolean; claimed: boolean; ended: boolean }> =>
  named(
    `SELECT
    (SELECT count(*) FROM (SELECT FROM notes o WHERE o.member_id = n.member_id
      AND o.state = 'approved' LIMIT $1) approved)::int AS approved,
    EXISTS (SELECT FROM notes o JOIN note_decisions d ON d.note_id = o.note_id
      WHERE o.member_id = n.member_id AND d.undone_at IS NULL
        AND d.decision IN ('rejected', 'removed')
        AND d.decided_at > clock_timestamp() - interval '90 days') AS rejected,
    EXISTS (SELECT FROM note_leases l
      WHERE l.note_id = n.note_id AND l.subject_type = 'note'
        AND ${isLiveLease('l')}) AS claimed,
    ${hasEnded('n')} AS ended
  FROM notes n WHERE n.note_id = $2`,
    [APPROVED, noteId],
  );

/**
 * Approves a note without screening findings if its member has five approved notes and none
 * rejected or removed in 90 days. The service is the actor, and the event names the rule. Leaves
 * a note that a moderator has claimed or decided on to moderators. Returns whether it approved.
 *
 * Called by the screening job, and only if `config.fastLane` is true.
 */
export function fastApprovalCommand(
  row: NoteOwner & Pick<NoteRow, 'parent_id'>,
  undoSeconds: number,
): Command<boolean> {
  const { note_id } = row;
  return defineCommand({
    find: authorOf(note_id),
    load: {
      // Claims are not events and the parent has another stream, so only row locks make them wait.
      note: loadNote(
        locking(sql<NoteRow>`SELECT * FROM notes WHERE note_id = ${note_id} FOR UPDATE`),
        note_id,
      ),
      parents: locking(
        sql<NoteRow>`SELECT * FROM notes WHERE note_id = ${row.parent_id}::uuid FOR SHARE`,
      ),
      records: recordOf(note_id),
    },
    decide({ note, parents: [parent], records: [record] }) {
      const trusted =
        record &&
        record.approved >= APPROVED &&
        !record.rejected &&
        !record.claimed &&
        !record.ended;
      if (!note?.row.member_id || note.row.message === null || !trusted) return NOTHING_TO_DO;
      const append = note.decide({
        type: 'ApproveNote',
        expectedVersion: 1,
        claimedAt: null,
        rule: FAST_LANE_RULE,
        parent: parent ?? null,
      });
      if (isRefusal(append)) return NOTHING_TO_DO;
      return {
        appends: [append],
        jobs: notifyAuthorJobs(note.row, parent?.member_id ?? null, append, undoSeconds),
        reply: () => true,
      };
    },
  });
}
