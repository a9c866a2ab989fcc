import type pg from 'pg';
import {
  approvedNotes,
  approvedReplies,
  findNote,
  type NoteRow,
  type PublicNoteRow,
} from '../../projections/notes.ts';
import { isRefusal, type Refusal, refuse } from '../eventstore/decider.ts';
import { type Place, pageOf } from '../http/place.ts';
import { unixSeconds } from '../http/schemas.ts';
import type { Experience } from '../notes/experience.ts';
import { takesReplies } from '../notes/state.ts';
import { query } from '../postgres.ts';
import { type Note, PAGE } from './contract.ts';

const NOTICE =
  'Notes are reviewed before they appear; names are chosen by their authors and verified by no one.';

export interface Asked {
  experience: Experience;
  parent_id?: string | undefined;
  before?: Place | undefined;
}

/** One page, and the address of the next where there is one. */
export async function readGuestbook(pool: pg.Pool, asked: Asked) {
  const read = await readNotes(pool, asked, PAGE);
  if (isRefusal(read)) return read;
  const { next_cursor, ...page } = read;
  return {
    body: { ...page, limit: PAGE as typeof PAGE },
    next: next_cursor === null ? undefined : nextPage(asked, next_cursor),
  };
}

/** A page of as many notes as asked for. */
export async function readNotes(pool: pg.Pool, asked: Asked, limit: number) {
  const { experience, parent_id: parentId, before } = asked;
  const [found, [parent]] = await Promise.all([
    query<PublicNoteRow>(
      pool,
      parentId
        ? approvedReplies(parentId, limit + 1, before)
        : approvedNotes(experience, limit + 1, before),
    ),
    parentId ? query<NoteRow>(pool, findNote(parentId)) : [],
  ]);
  if (parentId && !takesReplies(parent, experience)) return missing();
  const { rows, next_cursor } = pageOf(found, limit, (row) => ({
    at: row.approved,
    id: row.note_id,
  }));
  return {
    entries: rows.map(noteBody),
    experience,
    parent_id: parentId ?? null,
    notice: NOTICE,
    next_cursor,
  };
}

function missing(): Refusal<'reply_target_missing'> {
  return refuse('reply_target_missing');
}

function nextPage({ experience, parent_id }: Asked, before: string): string {
  const search = new URLSearchParams({
    experience,
    ...(parent_id ? { parent_id } : {}),
    before,
  });
  return `/api/guestbook?${search}`;
}

function noteBody(row: PublicNoteRow): Note {
  const byMember = row.attribution === 'member';
  return {
    id: row.note_id,
    name: byMember ? (row.handle ?? 'former member') : row.name || 'Guest',
    message: row.message ?? '',
    created_at: unixSeconds(row.submitted_at),
    experience: row.experience,
    parent_id: row.parent_id,
    attribution: row.attribution,
    identity: byMember ? 'chosen_service_handle' : 'self_described',
    name_verified: false,
    network_verified: false,
  };
}
