import { toLine } from '../../../platform/visible-text.ts';
import { recordPath } from './record-path.ts';
import type { Note, Page, Person, ViewOf } from './view.ts';

/** An entry of a feed: what a page shows of one record. */
export interface FeedEntry {
  id: string;
  /** Path of the record's page. */
  path: string;
  title: string;
  text: string;
  author: string;
  /** ISO 8601. */
  at: string;
}

const MAX_TITLE = 80;

const ofNote = (note: Note): FeedEntry => ({
  id: note.id,
  path: `/notes/${note.id}`,
  title: toLine(note.message, MAX_TITLE),
  text: note.message,
  author: note.name,
  at: new Date(note.created_at * 1000).toISOString(),
});

const nameOf = (person: Person | undefined): string => person?.name ?? 'former member';

/** The records of a list, or of a record with parts, as entries of its feed. */
export function feedEntries({ view }: Page): FeedEntry[] {
  switch (view.kind) {
    case 'guestbook':
      return view.notes.map(ofNote);
    case 'thread':
      return [...view.replies, view.note].map(ofNote);
    case 'cases':
      return view.cases.map((one) => ofCase(one, nameOf(view.people[one.author_id])));
    case 'packets':
      return view.packets.map((one) => ofPacket(one, nameOf(view.people[one.author_id])));
    case 'activity':
      return view.entries.map((entry) => ({
        id: entry.id,
        path:
          recordPath({ kind: entry.subject.type, id: entry.subject.id }, view.people) ??
          '/activity',
        title: `${entry.type.replace('.', ' ')}: ${entry.title}`,
        text: entry.title,
        author: entry.actor.id ? nameOf(view.people[entry.actor.id]) : entry.actor.type,
        at: entry.occurred_at,
      }));
    case 'member':
      return ofMember(view);
    default:
      return [];
  }
}

const ofCase = (one: ViewOf<'cases'>['cases'][number], author: string): FeedEntry => ({
  id: one.id,
  path: `/cases/${one.id}`,
  title: one.title,
  text: one.summary,
  author,
  at: one.created_at,
});

const ofPacket = (one: ViewOf<'packets'>['packets'][number], author: string): FeedEntry => ({
  id: one.id,
  path: `/packets/${one.id}`,
  title: one.title,
  text: `Context packet: ${one.kind}`,
  author,
  at: one.created_at,
});

function ofMember({ member, notes, packets, cases }: ViewOf<'member'>): FeedEntry[] {
  const author = member.handle;
  const entries = [
    ...packets.map((one) => ofPacket(one, author)),
    ...cases.map((one) => ofCase(one, author)),
    ...notes.map(({ id, message, at }) => ({
      id,
      path: `/notes/${id}`,
      title: toLine(message, MAX_TITLE),
      text: message,
      author,
      at,
    })),
  ];
  return entries.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}
