import type pg from 'pg';
import { takesReplies } from '../../domain/guestbook/state.ts';
import type { Experience } from '../../domain/guestbook/words.ts';
import { publicContent } from '../../platform/http/respond.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { type KeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { guestName } from '../../platform/visible-text.ts';
import {
  approvedNotes,
  approvedReplies,
  approvedVersions,
  findNote,
  type PublicNoteRow,
} from '../../projections/guestbook/notes.ts';
import { NOTES_PER_PAGE, type Note } from './contract.ts';

const NOTICE =
  'Notes are reviewed before they appear; names are chosen by their authors and verified by no one.';

/** One row more than a page, to detect whether there is a next page. */
const MAX_ROWS = NOTES_PER_PAGE + 1;

export interface GuestbookQuery {
  experience: Experience;
  parent_id?: string | undefined;
  before?: KeysetPosition | undefined;
}

/** Reads one page as an HTTP reply, with a link to the next page if there is one. */
export async function readGuestbook(pool: pg.Pool, asked: GuestbookQuery) {
  const read = await readNotes(pool, asked, NOTES_PER_PAGE);
  return isRefusal(read) ? read : replyOf(asked, read);
}

/**
 * Caches the first page of each experience, because nearly every reader requests that page. The
 * cached bytes are served while the database returns the same versions of the notes.
 */
export function firstPages(pool: pg.Pool) {
  const known = new Map<Experience, { versions: string; reply: ReturnType<typeof replyOf> }>();
  return async (experience: Experience) => {
    const last = known.get(experience);
    if (last) {
      const [current] = await query(pool, approvedVersions(experience, MAX_ROWS));
      if (current?.versions === last.versions) return last.reply;
    }
    const found = await query(pool, approvedNotes(experience, MAX_ROWS));
    // Take the versions from the same read as the notes: versions of an earlier read can recur.
    const versions = found.map(({ version }) => version).join(' ');
    const made = replyOf({ experience }, pageOfNotes(found, { experience }, NOTES_PER_PAGE));
    const reply = { ...made, content: { ...made.content, served: 'until-changed' as const } };
    known.set(experience, { versions, reply });
    return reply;
  };
}

function replyOf(
  asked: GuestbookQuery,
  { next_cursor, has_more: _, ...page }: ReturnType<typeof pageOfNotes>,
) {
  const link = next_cursor && { link: `<${linkTo(asked, next_cursor)}>; rel="next"` };
  return {
    status: 200 as const,
    content: publicContent({ ...page, limit: NOTES_PER_PAGE }),
    ...(link ? { headers: link } : {}),
  };
}

/** Reads a page of at most `limit` notes. */
export async function readNotes(pool: pg.Pool, asked: GuestbookQuery, limit: number) {
  const { experience, parent_id: parentId, before } = asked;
  if (!parentId) {
    const notes = await query(pool, approvedNotes(experience, limit + 1, before));
    return pageOfNotes(notes, asked, limit);
  }
  const [replies, [parent]] = await snapshot(pool, [
    approvedReplies(parentId, limit + 1, before),
    findNote(parentId),
  ]);
  return takesReplies(parent, experience) ? pageOfNotes(replies, asked, limit) : missing();
}

/** Names the list of the replies to a note, for cursors. */
export const repliesList = (noteId: string): string => `replies ${noteId.toLowerCase()}`;

/** Names the list that a query reads: of top-level notes of an experience, or of replies. */
export const notesList = ({ experience, parent_id }: Omit<GuestbookQuery, 'before'>): string =>
  parent_id ? repliesList(parent_id) : `notes ${experience}`;

function pageOfNotes(
  found: PublicNoteRow[],
  { experience, parent_id }: GuestbookQuery,
  limit: number,
) {
  const list = notesList({ experience, parent_id });
  const { rows, next } = toPage(list, found, limit, (row) => ({
    at: row.approved,
    id: row.note_id,
  }));
  return {
    entries: rows.map(noteBody),
    experience,
    parent_id: parent_id ?? null,
    notice: NOTICE,
    ...next,
  };
}

function missing(): Refusal<'reply_target_missing'> {
  return refuse('reply_target_missing');
}

function linkTo({ experience, parent_id }: GuestbookQuery, before: string): string {
  const search = new URLSearchParams({
    experience,
    ...(parent_id ? { parent_id } : {}),
    before,
  });
  return `/api/guestbook?${search}`;
}

/** The name under which a note is public. */
export function authorName({
  attribution,
  handle,
  name,
}: Pick<PublicNoteRow, 'attribution' | 'handle' | 'name'>): string {
  return attribution === 'member' ? (handle ?? 'former member') : guestName(name);
}

/** The body that describes a public note. */
export function noteBody(row: Omit<PublicNoteRow, 'approved'>): Note {
  const byMember = row.attribution === 'member';
  return {
    id: row.note_id,
    name: authorName(row),
    message: row.message ?? '',
    created_at: unixSeconds(row.written_at),
    experience: row.experience,
    parent_id: row.parent_id,
    attribution: row.attribution,
    identity: byMember ? 'chosen_service_handle' : 'self_described',
    name_verified: false,
    network_verified: false,
  };
}
