import type pg from 'pg';
import { EXPERIENCES } from '../../../domain/guestbook/words.ts';
import { problemFrom } from '../../../platform/http/problems.ts';
import type { Reader } from '../../../platform/http/reader.ts';
import { responseBody } from '../../../platform/http/respond.ts';
import { query } from '../../../platform/postgres/query.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  findNoteWithParent,
  isPublic,
  type NoteWithParentRow,
} from '../../../projections/guestbook/notes.ts';
import { listedNotes } from '../../../projections/guestbook/notes-on-pages.ts';
import { authorName, noteBody } from '../../guestbook/read.ts';
import type { Experience, Listed, Note, NoteParent, Page, RepliesPage, ViewOf } from '../view.ts';
import { address } from './lists.ts';
import { type FindSealedPlace, missing, recordId } from './page-reads.ts';
import { readThread, type ThreadQuery, threadPosition } from './thread.ts';

/** The guestbooks, with the address of each. */
export const GUESTBOOKS: Readonly<Record<Experience, { title: string; path: string }>> = {
  service: { title: 'Service', path: '/' },
  observatory: { title: 'Observatory', path: '/guestbook/observatory' },
  'two-clerks': { title: 'Two Clerks', path: '/guestbook/two-clerks' },
};

/** The guestbook with this name. */
export const anyGuestbook = (name: string): Experience =>
  EXPERIENCES.find((experience) => experience === name) ?? missing();

/** The guestbook with this name in the address of a page. The first one is at `/` alone. */
export function guestbookNamed(name: string): Experience {
  const known = anyGuestbook(name);
  return known === 'service' ? missing() : known;
}

interface NotesPage {
  entries: Note[];
  next: string | undefined;
}

/** Reads a page of notes by the operation of the API, whose `Link` names the next page. */
async function readPage(
  reader: Reader,
  asked: { experience: Experience; before?: string | undefined },
): Promise<NotesPage> {
  const reply = await reader.reply('guestbook.read', { query: asked });
  const { entries } = responseBody(reply) as unknown as Omit<NotesPage, 'next'>;
  const [, link] = /^<([^>]+)>/.exec(reply.headers?.link ?? '') ?? [];
  const next = link && new URL(link, 'http://service').searchParams.get('before');
  return { entries, next: next || undefined };
}

async function readListed(pool: pg.Pool, notes: readonly Note[]): Promise<Listed> {
  const rows = await query(pool, listedNotes(notes.map(({ id }) => id)));
  return Object.fromEntries(
    rows.map(({ note_id, approved_at, replies }) => [
      note_id,
      { approved: approved_at.toISOString(), replies },
    ]),
  );
}

export async function guestbookPage(
  reader: Reader,
  pool: pg.Pool,
  experience: Experience,
  before: string | undefined,
  usualWait?: string,
): Promise<Page & { view: ViewOf<'guestbook'> }> {
  const { title, path } = GUESTBOOKS[experience];
  const { entries, next } = await readPage(reader, { experience, before });
  const listed = await readListed(pool, entries);
  const older = next && address(path, { before: next });
  return {
    head: {
      title,
      description:
        'Short notes by people and programs, reviewed by a moderator before they appear.',
      path: address(path, { before }),
      feed: `/guestbook/${experience}`,
      section: 'guestbook',
      alternates: [
        {
          type: 'application/json',
          href: address('/api/guestbook', { experience }),
          title: 'These notes as JSON',
        },
      ],
      older,
    },
    view: {
      kind: 'guestbook',
      experience,
      notes: entries,
      listed,
      newest: before === undefined,
      older,
      usualWait,
    },
  };
}

const NO_REPLIES: RepliesPage = { replies: [] };

/** A note with its replies: 410 if the note was public before, 404 if it never was. */
export async function notePage(
  pool: pg.Pool,
  givenId: string,
  asked: ThreadQuery,
  findSealed: FindSealedPlace = async () => undefined,
): Promise<Page & { view: ViewOf<'thread'> }> {
  const id = recordId(givenId);
  threadPosition(id, asked);
  const [row] = await query(pool, findNoteWithParent(id));
  if (!row) return missing();
  if (!isPublic(row)) return row.was_public ? gone() : missing();
  const note = noteBody(row);
  const path = `/notes/${note.id}`;
  const [thread, sealed] = await Promise.all([
    row.parent_id ? NO_REPLIES : readThread(pool, note.id, asked),
    findSealed('note', note.id, row.owner_id),
  ]);
  return {
    head: {
      title: `${note.name}: ${note.message}`,
      description: note.message,
      path: address(path, { ...asked }),
      feed: path,
      section: 'guestbook',
      alternates: [
        {
          type: 'application/json',
          href: address('/api/guestbook', {
            experience: note.experience,
            parent_id: note.parent_id ?? note.id,
          }),
          title: note.parent_id ? 'The replies as JSON' : 'Its replies as JSON',
        },
      ],
      older: thread.later,
    },
    view: {
      kind: 'thread',
      note,
      sealed,
      parent: parentOf(row),
      ...thread,
      listed: await readListed(pool, [note, ...thread.replies]),
    },
  };
}

function gone(): never {
  throw problemFrom(refuse('gone'));
}

function parentOf(row: NoteWithParentRow): NoteParent | null {
  if (!row.parent_id) return null;
  const name = authorName({
    attribution: row.parent_attribution ?? 'guest',
    handle: row.parent_handle,
    name: row.parent_name,
  });
  return { id: row.parent_id, name, message: row.parent_message ?? '' };
}
