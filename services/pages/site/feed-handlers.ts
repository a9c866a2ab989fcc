import type pg from 'pg';
import type { Config } from '../../../platform/config.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { createReader, type Reader } from '../../../platform/http/reader.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import type { createCoalescer } from '../../../platform/postgres/coalescer.ts';
import { query } from '../../../platform/postgres/query.ts';
import { enterStorage } from '../../../platform/postgres/request-deadline.ts';
import type { Sql } from '../../../platform/sql.ts';
import { artifactsTakenDown } from '../../../projections/artifacts/artifacts.ts';
import { casesTakenDown } from '../../../projections/cases/cases.ts';
import { latestNotes, latestOfThread } from '../../../projections/guestbook/notes.ts';
import {
  notesOfMemberTakenDown,
  notesTakenDown,
  repliesTakenDown,
} from '../../../projections/guestbook/notes-taken-down.ts';
import {
  type ChangeRow,
  lastCaseChange,
  lastRecordRestored,
  lastReversal,
  lastReversalOfMember,
  recordsRestored,
  serviceSince,
  subjectsRestored,
} from '../../../projections/restored.ts';
import { activityTakenDown, type TakenDownRow } from '../../../projections/taken-down.ts';
import type { PacketLine, Page } from '../view.ts';
import type { siteContract } from './contract.ts';
import {
  activityEntry,
  byAuthors,
  caseEntry,
  type FeedEntry,
  newestFirst,
  noteEntry,
  ownNoteEntry,
  packetEntry,
  shownEntry,
} from './feed-entries.ts';
import { atomFeed, jsonFeed } from './feeds.ts';
import { anyGuestbook, guestbookPage, notePage } from './guestbook.ts';
import {
  ACTIVITY_PER_PAGE,
  activityPage,
  address,
  casesPage,
  PER_PAGE,
  packetsPage,
} from './lists.ts';
import { memberPage, OF_EACH } from './records.ts';
import { addressOf, type keepBytes, type Shared, type Shown } from './shared-replies.ts';

const latest = (changes: readonly ChangeRow[]): string =>
  new Date(Math.max(...changes.map(({ at }) => at?.getTime() ?? 0))).toISOString();

const tombstone = ({ id, at }: TakenDownRow) => ({ id, at: at.toISOString() });

interface FeedDeps {
  config: Pick<Config, 'baseUrl'>;
  keys: KeyRing;
  readPool: pg.Pool;
  operations: () => Operations;
}

/** Both feeds of each list, note and member. */
export function feedHandlers(
  { config, keys, readPool: pool, operations }: FeedDeps,
  sharing: ReturnType<typeof createCoalescer<Shown>>,
  bytesOf: ReturnType<typeof keepBytes>,
): Pick<Handlers<typeof siteContract>, Extract<keyof typeof siteContract, `feeds.${string}`>> {
  const times = async (statement: Sql<{ id: string; at: Date }>) =>
    new Map((await query(pool, statement)).map(({ id, at }) => [id, at.toISOString()]));
  const restoredPackets = (packets: readonly PacketLine[]) =>
    times(
      recordsRestored(
        'artifact',
        packets.map(({ id }) => id),
      ),
    );

  /**
   * Both feeds of a page. `path` is that of the feeds without their suffix. `takenDown` reads at
   * most as many tombstones as the page has entries. It ignores the filter of the entries, because
   * the state or kind of a record is not public any more. `changed` reads when the feed may have
   * changed without a trace among them.
   */
  const feedsOf = <Call extends Shared, Shown extends Page>(
    path: (call: Call) => string,
    make: (call: Call) => (reader: Reader) => Promise<Shown>,
    read: (call: Call, page: Shown) => Promise<FeedEntry[]>,
    takenDown: (call: Call, page: Shown) => Sql<TakenDownRow>[],
    changed: (page: Shown) => Sql<ChangeRow>[] = () => [],
  ) => {
    const respond = (toFeed: typeof atomFeed) => (call: Call) => {
      enterStorage();
      const name = addressOf(call);
      return sharing(name, async () => {
        const feed = await feedOf(call);
        const content = bytesOf(name, feed, () => toFeed(feed, config.baseUrl));
        return { status: 200 as const, content };
      });
    };
    const feedOf = async (call: Call) => {
      const page = await make(call)(createReader(operations(), call.request));
      const [entries, gone, changes] = await Promise.all([
        read(call, page),
        Promise.all(takenDown(call, page).map((statement) => query(pool, statement))),
        Promise.all([serviceSince(), ...changed(page)].map((statement) => query(pool, statement))),
      ]);
      return {
        page,
        path: path(call),
        entries: entries.map(shownEntry),
        gone: gone
          .flat()
          .sort((a, b) => b.at.getTime() - a.at.getTime())
          .map(tombstone),
        changed: latest(changes.flat()),
      };
    };
    return { atom: respond(atomFeed), json: respond(jsonFeed) };
  };
  interface Named<Params> extends Shared {
    params: Params;
  }
  interface Filtered<Query> extends Shared {
    query: Query;
  }
  const ofGuestbook = feedsOf(
    ({ params }: Named<{ experience: string }>) => `/guestbook/${params.experience}`,
    ({ params }) =>
      (reader) =>
        guestbookPage(reader, pool, anyGuestbook(params.experience), undefined),
    async ({ params }) =>
      (await query(pool, latestNotes(params.experience, PER_PAGE))).map(noteEntry),
    ({ params }) => [notesTakenDown(params.experience, PER_PAGE)],
  );
  const ofNote = feedsOf(
    ({ params }: Named<{ id: string }>) => `/notes/${params.id}`,
    ({ params }) =>
      () =>
        notePage(pool, params.id, {}),
    async (_, { view: { note } }) =>
      (await query(pool, latestOfThread(note.id, PER_PAGE))).map(noteEntry),
    (_, { view: { note } }) => [repliesTakenDown(note.id, PER_PAGE)],
  );
  const ofMember = feedsOf(
    ({ params }: Named<{ handle: string }>) => `/members/${params.handle}`,
    ({ params }) =>
      (reader) =>
        memberPage(reader, pool, keys, params.handle),
    async (_, { view: { member, notes, packets, cases } }) => {
      const restored = await restoredPackets(packets);
      const author = member.handle;
      return newestFirst([
        ...packets.map((one) => packetEntry(one, author, restored)),
        ...cases.map((one) => caseEntry(one, author)),
        ...notes.map((note) => ownNoteEntry(note, author)),
      ]);
    },
    (_, { view: { member } }) => [
      notesOfMemberTakenDown(member.id, OF_EACH),
      artifactsTakenDown(OF_EACH, member.id),
      casesTakenDown(OF_EACH, member.id),
    ],
    ({ view: { member } }) => [lastReversalOfMember(member.id)],
  );
  const ofCases = feedsOf(
    ({ query }: Filtered<{ state?: string | undefined }>) => address('/cases', query),
    ({ query }) =>
      (reader) =>
        casesPage(reader, pool, query),
    async (_, { view: { cases, people } }) => byAuthors(cases, people, caseEntry),
    () => [casesTakenDown(PER_PAGE)],
    () => [lastCaseChange()],
  );
  const ofPackets = feedsOf(
    ({ query }: Filtered<{ kind?: string | undefined }>) => address('/packets', query),
    ({ query }) =>
      (reader) =>
        packetsPage(reader, pool, query),
    async (_, { view: { packets, people } }) => {
      const restored = await restoredPackets(packets);
      return byAuthors(packets, people, (one, author) => packetEntry(one, author, restored));
    },
    () => [artifactsTakenDown(PER_PAGE)],
    () => [lastRecordRestored()],
  );
  const ofActivity = feedsOf(
    () => '/activity',
    () => (reader) => activityPage(reader, pool, {}),
    async (_, { view: { entries, people } }) => {
      const restored = await times(subjectsRestored(entries.map(({ id }) => id)));
      return entries.map((entry) => activityEntry(entry, people, restored));
    },
    () => [activityTakenDown(ACTIVITY_PER_PAGE)],
    () => [lastReversal()],
  );

  return {
    'feeds.guestbook_atom': ofGuestbook.atom,
    'feeds.guestbook_json': ofGuestbook.json,
    'feeds.note_atom': ofNote.atom,
    'feeds.note_json': ofNote.json,
    'feeds.member_atom': ofMember.atom,
    'feeds.member_json': ofMember.json,
    'feeds.cases_atom': ofCases.atom,
    'feeds.cases_json': ofCases.json,
    'feeds.packets_atom': ofPackets.atom,
    'feeds.packets_json': ofPackets.json,
    'feeds.activity_atom': ofActivity.atom,
    'feeds.activity_json': ofActivity.json,
  };
}
