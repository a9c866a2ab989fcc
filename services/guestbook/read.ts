import type pg from 'pg';
import {
  approvedNotes,
  approvedReplies,
  findNote,
  type NoteRow,
  type PublicNoteRow,
} from '../../projections/notes.ts';
import { type Refusal, refuse } from '../eventstore/decider.ts';
import { type Place, writePlace } from '../http/place.ts';
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
  const { experience, parent_id: parentId, before } = asked;
  const [rows, [parent]] = await Promise.all([
    query<PublicNoteRow>(
      pool,
      parentId
        ? approvedReplies(parentId, PAGE + 1, before)
        : approvedNotes(experience, PAGE + 1, before),
    ),
    parentId ? query<NoteRow>(pool, findNote(parentId)) : [],
  ]);
  if (parentId && !takesReplies(parent, experience)) return missing();
  const page = rows.slice(0, PAGE);
  const last = rows.length > PAGE ? page.at(-1) : undefined;
  return {
    body: {
      entries: page.map(noteBody),
      limit: PAGE as typeof PAGE,
      experience,
      parent_id: parentId ?? null,
      notice: NOTICE,
    },
    next: last ? nextPage(asked, { at: last.approved, id: last.note_id }) : undefined,
  };
}

function missing(): Refusal<'reply_target_missing'> {
  return refuse('reply_target_missing');
}

function nextPage({ experience, parent_id }: Asked, place: Place): string {
  const search = new URLSearchParams({
    experience,
    ...(parent_id ? { parent_id } : {}),
    before: writePlace(place),
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
