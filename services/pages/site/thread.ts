import type pg from 'pg';
import { problemFrom } from '../../../platform/http/problems.ts';
import { formatKeysetCursor, toKeysetPosition } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { approvedReplies, type PublicNoteRow } from '../../../projections/guestbook/notes.ts';
import { firstReplies } from '../../../projections/guestbook/notes-on-pages.ts';
import { NOTES_PER_PAGE } from '../../guestbook/contract.ts';
import { noteBody, repliesList } from '../../guestbook/read.ts';
import type { RepliesPage } from '../view.ts';
import { address } from './lists.ts';

/** Which part of a thread a page shows: from its start, or what follows or precedes a cursor. */
export interface ThreadQuery {
  after?: string | undefined;
  before?: string | undefined;
  /** Present for the end of the thread. */
  last?: string | undefined;
}

/** Fails if a cursor is not one of this thread. */
export function threadPosition(noteId: string, { after, before }: ThreadQuery) {
  const position = toKeysetPosition(repliesList(noteId), after ?? before);
  if (isRefusal(position)) throw problemFrom(position);
  return position;
}

/**
 * Reads a page of the replies to a note in reading order, the oldest first. The API lists the newest
 * first, so a page reads the same replies from their other end.
 */
export async function readThread(
  pool: pg.Pool,
  noteId: string,
  asked: ThreadQuery,
): Promise<RepliesPage> {
  const position = threadPosition(noteId, asked);
  const backwards = asked.after === undefined && (asked.before ?? asked.last) !== undefined;
  const read = backwards ? approvedReplies : firstReplies;
  const found = await query(pool, read(noteId, NOTES_PER_PAGE + 1, position));
  const more = found.length > NOTES_PER_PAGE;
  const rows = found.slice(0, NOTES_PER_PAGE);
  if (backwards) rows.reverse();
  const path = `/notes/${noteId}`;
  const cursorAt = ({ approved, note_id }: PublicNoteRow) =>
    formatKeysetCursor(repliesList(noteId), { at: approved, id: note_id });
  const [first, last] = [rows[0], rows.at(-1)];
  const hasEarlier = backwards ? more : position !== undefined;
  const hasLater = backwards ? position !== undefined : more;
  return {
    replies: rows.map(noteBody),
    earlier: hasEarlier && first ? address(path, { before: cursorAt(first) }) : undefined,
    later: hasLater && last ? address(path, { after: cursorAt(last) }) : undefined,
  };
}
