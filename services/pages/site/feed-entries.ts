import { stripInvisible, toLine } from '../../../platform/visible-text.ts';
import type { SinceNoteRow } from '../../../projections/guestbook/notes.ts';
import { authorName } from '../../guestbook/read.ts';
import { recordPath } from '../../navigation.ts';
import type { ActivityEntry, Case, NoteLine, PacketLine, People } from '../view.ts';

/** An entry of a feed: what a page shows of one record. Times are ISO 8601. */
export interface FeedEntry {
  id: string;
  /** Path of the record's page. */
  path: string;
  title: string;
  text: string;
  author: string;
  /** When it was written. */
  published: string;
  /** When it became public, again after a restore; of a case, also when it last changed. */
  updated: string;
}

const MAX_TITLE = 80;

const personName = (people: People, id: string): string => people[id]?.name ?? 'former member';

/** The author of a note as pages name them: a guest may choose the name of a member. */
const noteAuthor = (row: SinceNoteRow): string =>
  row.attribution === 'guest' ? `${authorName(row)} (guest)` : authorName(row);

export const noteEntry = (row: SinceNoteRow): FeedEntry => ({
  id: row.note_id,
  path: `/notes/${row.note_id}`,
  title: toLine(row.message ?? '', MAX_TITLE),
  text: row.message ?? '',
  author: noteAuthor(row),
  published: row.written_at.toISOString(),
  updated: row.public_since.toISOString(),
});

export const ownNoteEntry = (note: NoteLine, author: string): FeedEntry => ({
  id: note.id,
  path: `/notes/${note.id}`,
  title: toLine(note.message, MAX_TITLE),
  text: note.message,
  author,
  published: note.written,
  updated: note.at,
});

export const caseEntry = (one: Case, author: string): FeedEntry => ({
  id: one.id,
  path: `/cases/${one.id}`,
  title: one.title,
  text: one.summary,
  author,
  published: one.created_at,
  updated: one.updated_at,
});

/** When records became public again, by id. */
export type Restored = ReadonlyMap<string, string>;

export const packetEntry = (one: PacketLine, author: string, restored: Restored): FeedEntry => ({
  id: one.id,
  path: `/packets/${one.id}`,
  title: one.title,
  text: `Context packet: ${one.kind}`,
  author,
  published: one.created_at,
  updated: restored.get(one.id) ?? one.created_at,
});

export const activityEntry = (
  { id, type, subject, title, actor, occurred_at }: ActivityEntry,
  people: People,
  restored: Restored,
): FeedEntry => ({
  id,
  path: recordPath({ kind: subject.type, id: subject.id }, people) ?? '/activity',
  title: `${type.replace('.', ' ')}: ${title}`,
  text: title,
  author: actor.id ? personName(people, actor.id) : actor.type,
  published: occurred_at,
  updated: restored.get(id) ?? occurred_at,
});

/** Entries of records by authors who are named as pages name them. */
export const byAuthors = <One extends { author_id: string }>(
  records: readonly One[],
  people: People,
  toEntry: (one: One, author: string) => FeedEntry,
): FeedEntry[] => records.map((one) => toEntry(one, personName(people, one.author_id)));

/** The entry that changed last first. */
export const newestFirst = (entries: readonly FeedEntry[]): FeedEntry[] =>
  entries.toSorted((a, b) => (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0));

/** An entry without the invisible characters that pages do not show either. */
export const shownEntry = (entry: FeedEntry): FeedEntry => ({
  ...entry,
  title: stripInvisible(entry.title),
  text: stripInvisible(entry.text),
  author: stripInvisible(entry.author),
});
