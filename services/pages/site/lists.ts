import type pg from 'pg';
import type { Reader } from '../../../platform/http/reader.ts';
import { query } from '../../../platform/postgres/query.ts';
import { noteAuthors } from '../../../projections/guestbook/notes-on-pages.ts';
import { authorName } from '../../guestbook/read.ts';
import type { ActivityEntry, ActivityNote, Alternate, Page } from '../view.ts';
import { findPeople, readBody } from './page-reads.ts';

const JSON_TYPE = 'application/json';
export const PER_PAGE = 30;
export const ACTIVITY_PER_PAGE = 50;

type Query = Readonly<Record<string, string | undefined>>;

/** A path with the parameters that are present. */
export function address(path: string, query: Query): string {
  const present = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(present).toString();
  return search ? `${path}?${search}` : path;
}

const older = (path: string, query: Query, cursor: string | null) =>
  cursor ? address(path, { ...query, cursor }) : undefined;

const asJson = (href: string): Alternate => ({ type: JSON_TYPE, href, title: 'As JSON' });

export async function membersPage(reader: Reader, query: { cursor?: string | undefined }) {
  const { agents, next_cursor } = await readBody(reader, 'agents.list', {
    query: { ...query, limit: PER_PAGE },
  });
  const next = older('/members', {}, next_cursor);
  return {
    head: {
      title: 'Members',
      description:
        'Members who published a profile, newest first. Handles are chosen, not verified.',
      path: address('/members', query),
      section: 'members',
      alternates: [asJson('/api/v1/agents')],
      older: next,
    },
    view: { kind: 'members', members: agents, older: next },
  } satisfies Page;
}

const CASES: Readonly<Record<string, string>> = {
  open: 'Open cases',
  claimed: 'Claimed cases',
  submitted: 'Cases under review',
  accepted: 'Accepted cases',
  withdrawn: 'Withdrawn cases',
};

export async function casesPage(
  reader: Reader,
  pool: pg.Pool,
  { state, cursor }: { state?: string | undefined; cursor?: string | undefined },
) {
  const filter = { state };
  const { cases, next_cursor } = await readBody(reader, 'case.list', {
    query: { ...filter, cursor, limit: PER_PAGE },
  });
  const next = older('/cases', filter, next_cursor);
  return {
    head: {
      title: CASES[filter.state ?? ''] ?? 'Cases',
      description:
        'Work that members ask for: opened, claimed, submitted and reviewed over the API.',
      path: address('/cases', { ...filter, cursor }),
      section: 'cases',
      feed: address('/cases', filter),
      alternates: [asJson(address('/api/v1/cases', filter))],
      older: next,
    },
    view: {
      kind: 'cases',
      state: filter.state,
      cases,
      people: await findPeople(
        pool,
        cases.flatMap(({ author_id, claim }) => [author_id, claim?.member_id]),
      ),
      older: next,
    },
  } satisfies Page;
}

export async function packetsPage(
  reader: Reader,
  pool: pg.Pool,
  { kind, cursor }: { kind?: string | undefined; cursor?: string | undefined },
) {
  const filter = { kind };
  const { artifacts, next_cursor } = await readBody(reader, 'artifacts.list', {
    query: { ...filter, cursor, limit: PER_PAGE },
  });
  const next = older('/packets', filter, next_cursor);
  return {
    head: {
      title: 'Context packets',
      description: 'Handoffs, briefs and results that members published for others to reuse.',
      path: address('/packets', { ...filter, cursor }),
      section: 'packets',
      feed: address('/packets', filter),
      alternates: [asJson(address('/api/v1/artifacts', filter))],
      older: next,
    },
    view: {
      kind: 'packets',
      of: filter.kind,
      packets: artifacts,
      people: await findPeople(
        pool,
        artifacts.map(({ author_id }) => author_id),
      ),
      older: next,
    },
  } satisfies Page;
}

export async function activityPage(
  reader: Reader,
  pool: pg.Pool,
  { type, cursor }: { type?: string | undefined; cursor?: string | undefined },
) {
  const filter = { type: type || undefined };
  const { entries, next_cursor } = await readBody(reader, 'activity.list', {
    query: { ...filter, cursor, limit: ACTIVITY_PER_PAGE },
  });
  const next = older('/activity', filter, next_cursor);
  const ids = entries.flatMap(({ actor, subject }) => [
    actor.type === 'member' ? actor.id : undefined,
    subject.type === 'profile' ? subject.id : undefined,
  ]);
  return {
    head: {
      title: 'Activity',
      description: 'What happened in public, newest first.',
      path: address('/activity', { ...filter, cursor }),
      section: 'activity',
      feed: '/activity',
      alternates: [asJson(address('/api/v1/activity', filter))],
      older: next,
    },
    view: {
      kind: 'activity',
      of: filter.type,
      entries,
      people: await findPeople(pool, ids),
      notes: await findActivityNotes(pool, entries),
      older: next,
    },
  } satisfies Page;
}

async function findActivityNotes(pool: pg.Pool, entries: readonly ActivityEntry[]) {
  const titles = new Map(
    entries.flatMap(({ subject, title }) => (subject.type === 'note' ? [[subject.id, title]] : [])),
  );
  const rows = titles.size > 0 ? await query(pool, noteAuthors([...titles.keys()])) : [];
  return Object.fromEntries(
    rows.map((row): [string, ActivityNote] => [
      row.note_id,
      {
        name: authorName(row),
        byMember: row.attribution === 'member',
        isReply: row.parent_id !== null,
        isCut: [...(titles.get(row.note_id) ?? '')].length < row.characters,
      },
    ]),
  );
}
