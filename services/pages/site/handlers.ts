import type pg from 'pg';
import type { Config } from '../../../platform/config.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { pageHeaders, textContent } from '../../../platform/http/page-headers.ts';
import { createReader, type Reader } from '../../../platform/http/reader.ts';
import type { Call, Content, Handlers, RequestContext } from '../../../platform/http/route.ts';
import { keep } from '../../../platform/keep.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import type { RouteLimits } from '../../../platform/limits/route-limits.ts';
import { createCoalescer } from '../../../platform/postgres/coalescer.ts';
import { query } from '../../../platform/postgres/query.ts';
import { enterStorage } from '../../../platform/postgres/request-deadline.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import type { Sql } from '../../../platform/sql.ts';
import { activityTakenDown } from '../../../projections/activity/taken-down.ts';
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
import type { TakenDownRow } from '../../../projections/taken-down.ts';
import { REPORTS_PER_DAY, REPORTS_PER_TEN_MINUTES } from '../../guestbook/limits.ts';
import { byLiveSession } from '../../membership/by-session.ts';
import { sessionAuthenticator } from '../../membership/sessions.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import type { ReportRequest } from '../../reports/contract.ts';
import { reportRecordCommand } from '../../reports/report.ts';
import { weeksAsCsv } from '../../transparency/csv.ts';
import { builtPages } from '../build.ts';
import { aboutPage, forAgentsPage } from './about.ts';
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
import { anyGuestbook, guestbookNamed, guestbookPage, notePage } from './guestbook.ts';
import { keepBytes } from './kept-bytes.ts';
import {
  ACTIVITY_PER_PAGE,
  activityPage,
  address,
  casesPage,
  membersPage,
  PER_PAGE,
  packetsPage,
} from './lists.ts';
import { isLive } from './live.ts';
import { casePage, memberPage, OF_EACH, packetPage } from './records.ts';
import { REPORTED, reportPage, sendReport } from './report.ts';
import { searchPage } from './search.ts';
import { siteInfo } from './site-info.ts';
import { readWeeks, transparencyPage } from './transparency.ts';
import type { Experience, PacketLine, Page } from './view.ts';
import { sentPage, sign, writePage } from './write.ts';

export interface SiteDeps {
  config: Config;
  keys: KeyRing;
  readPool: pg.Pool;
  store: EventStore;
  limits: RouteLimits;
  publicationKinds: readonly PublicationKind[];
  /** The operations of this instance; called once a request arrives. */
  operations: () => Operations;
}

/** Pages without scripts; a form may post to this origin. */
export const PLAIN_PAGE = pageHeaders({ 'script-src': "'none'", 'form-action': "'self'" });

/** Pages that a script takes over. */
const LIVE_PAGE = pageHeaders({
  'form-action': "'self'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
});

/** A request for what is the same for all readers. */
type Shared = Pick<Call, 'operation' | 'request'> & { params?: unknown; query?: unknown };

/** What was asked for, in one form. */
const addressOf = ({ operation, params, query }: Shared): string =>
  JSON.stringify([operation, params, query]);

const latest = (changes: readonly ChangeRow[]): string =>
  new Date(Math.max(...changes.map(({ at }) => at?.getTime() ?? 0))).toISOString();

const tombstone = ({ id, at }: TakenDownRow) => ({ id, at: at.toISOString() });

/** Its content depends on the session, which the script reads. */
const ME: Page = {
  head: {
    title: 'Your account',
    description: 'Keys, sessions, notes, credentials and data of a member.',
    path: '/me',
    hidden: true,
  },
  view: { kind: 'me' },
};

export function siteHandlers(deps: SiteDeps): Handlers<typeof siteContract> {
  const { config, keys, readPool: pool, operations } = deps;
  const site = siteInfo(config);
  const authenticate = sessionAuthenticator(deps.store.pool, keys);
  const reports = {
    readPool: pool,
    publicationKinds: deps.publicationKinds,
    operations,
    async reportRecord(kind: PublicationKind, report: ReportRequest, request: RequestContext) {
      if (!config.apiOpen) return refuse('api_disabled');
      const session = await authenticate(request);
      if (isRefusal(session)) return session;
      const reply = (isNew: boolean) => () => ({ isNew });
      const command = reportRecordCommand(kind, session.memberId, report, reply);
      return handle(deps.store, byLiveSession<{ isNew: boolean }>(session), command);
    },
  };
  const guide = keep(() => forAgentsPage(config));

  const bytesOf = keepBytes();
  const sharing = createCoalescer<{
    status: 200;
    content: Content;
    headers?: Record<string, string>;
  }>();

  async function rendered(page: Page, kept: (make: () => Content) => Content = (make) => make()) {
    const { render } = await builtPages();
    return {
      status: 200 as const,
      content: kept(() =>
        textContent('text/html', Buffer.from(render(page, { baseUrl: config.baseUrl, site }))),
      ),
      headers: isLive(page.view) ? LIVE_PAGE : PLAIN_PAGE,
    };
  }

  /** A page that is the same for all readers: concurrent requests share its reads and its bytes. */
  function show(call: Shared, make: (reader: Reader) => Promise<Page>) {
    const name = addressOf(call);
    return sharing(name, async () => {
      const page = await make(createReader(operations(), call.request));
      return rendered(page, (render) => bytesOf(name, page, render));
    });
  }

  /** The same for a page of which there are many, so each request takes a place. */
  function showOneOfMany(call: Shared, make: (reader: Reader) => Promise<Page>) {
    enterStorage();
    return show(call, make);
  }

  function showGuestbook(
    call: Shared & { query: { before?: string | undefined } },
    of: Experience,
  ) {
    const { before } = call.query;
    const make = (reader: Reader) => guestbookPage(reader, pool, of, before);
    return before === undefined ? show(call, make) : showOneOfMany(call, make);
  }

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
    'pages.guestbook': (call) => showGuestbook(call, 'service'),
    'pages.guestbook_moved': async () => ({
      status: 308,
      content: { type: '', bytes: '' },
      headers: { location: '/' },
    }),
    'pages.guestbook_of': (call) => showGuestbook(call, guestbookNamed(call.params.experience)),
    'pages.note': (call) => showOneOfMany(call, () => notePage(pool, call.params.id, call.query)),
    'pages.write': async ({ query }) => rendered(await writePage(pool, query)),
    'pages.sign': async ({ request, body }) => {
      const outcome = await sign(operations(), pool, body, request, rendered);
      if ('again' in outcome) return { ...(await rendered(outcome.again)), status: 422 };
      const location = `/notes/${outcome.accepted}/sent`;
      return { status: 303, content: { type: '', bytes: '' }, headers: { location } };
    },
    'pages.note_sent': async ({ params }) =>
      rendered(await sentPage(deps.store.pool, params.id, config.undoWindowSeconds)),
    'pages.report': async ({ query }) => rendered(await reportPage(reports, query)),
    'pages.report_send': async (call) => {
      const { request, body } = call;
      const withLimits = {
        ...reports,
        reportRecord: (...[kind, report]: Parameters<typeof reports.reportRecord>) =>
          deps.limits.within(call, [REPORTS_PER_TEN_MINUTES, REPORTS_PER_DAY], () =>
            reports.reportRecord(kind, report, request),
          ),
      };
      const again = await sendReport(withLimits, body, request, rendered);
      if (again) return { ...(await rendered(again)), status: 422 };
      const headers = { location: '/report/sent' };
      return { status: 303, content: { type: '', bytes: '' }, headers };
    },
    'pages.reported': (call) => show(call, async () => REPORTED),
    'pages.members': (call) => showOneOfMany(call, (reader) => membersPage(reader, call.query)),
    'pages.member': (call) =>
      showOneOfMany(call, (reader) => memberPage(reader, pool, keys, call.params.handle)),
    'pages.cases': (call) => showOneOfMany(call, (reader) => casesPage(reader, pool, call.query)),
    'pages.case': (call) => showOneOfMany(call, (reader) => casePage(reader, pool, call.params.id)),
    'pages.packets': (call) =>
      showOneOfMany(call, (reader) => packetsPage(reader, pool, call.query)),
    'pages.packet': (call) =>
      showOneOfMany(call, (reader) => packetPage(reader, pool, call.params.id)),
    'pages.activity': (call) =>
      showOneOfMany(call, (reader) => activityPage(reader, pool, call.query)),
    // Waits for its turn as long as its caller does, so it is not shared.
    'pages.search': async ({ request, query }) =>
      rendered(await searchPage(createReader(operations(), request), pool, query)),
    'pages.me': (call) => show(call, async () => ME),
    'pages.about': (call) => show(call, (reader) => aboutPage(reader, config)),
    'pages.transparency': (call) =>
      showOneOfMany(call, (reader) => transparencyPage(reader, call.query)),
    'pages.transparency_csv': async ({ request, query }) => {
      const read = createReader(operations(), request);
      const { weeks, next_cursor } = await readWeeks(read, query);
      return {
        status: 200,
        content: textContent('text/csv', weeksAsCsv(weeks)),
        ...(next_cursor ? { next: next_cursor } : {}),
      };
    },
    'pages.for_agents': (call) => show(call, async () => guide()),
  };
}
