import type pg from 'pg';
import type { Config } from '../../../platform/config.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import { prefersMarkdown } from '../../../platform/http/accept.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { pageHeaders, textContent } from '../../../platform/http/page-headers.ts';
import { createReader, type Reader } from '../../../platform/http/reader.ts';
import {
  type Content,
  type Handlers,
  isNegotiated,
  type RequestContext,
} from '../../../platform/http/route.ts';
import { keep } from '../../../platform/keep.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import type { RouteLimits } from '../../../platform/limits/route-limits.ts';
import { createCoalescer } from '../../../platform/postgres/coalescer.ts';
import { enterStorage } from '../../../platform/postgres/request-deadline.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import { SERVICE_LINK_HEADER } from '../../discovery/service-links.ts';
import { REPORTS_PER_DAY, REPORTS_PER_TEN_MINUTES } from '../../guestbook/limits.ts';
import { byLiveSession } from '../../membership/by-session.ts';
import { sessionAuthenticator } from '../../membership/sessions.ts';
import type { ProvableRecord, PublicationKind } from '../../publications/publication-kind.ts';
import type { ReportRequest } from '../../reports/contract.ts';
import { reportRecordCommand } from '../../reports/report.ts';
import { underNotice } from '../../sandbox-notice.ts';
import { builtPages } from '../build.ts';
import { isLive } from '../live.ts';
import type { Experience, Page } from '../view.ts';
import { aboutPage, developersPage, forAgentsPage, siteInfo } from './about.ts';
import type { siteContract } from './contract.ts';
import { feedHandlers } from './feed-handlers.ts';
import { guestbookNamed, guestbookPage, notePage } from './guestbook.ts';
import { activityPage, casesPage, membersPage, packetsPage } from './lists.ts';
import { toMarkdown } from './markdown.ts';
import { sealedPlaces } from './page-reads.ts';
import { casePage, memberPage, packetPage } from './records.ts';
import { REPORTED, reportPage, sendReport } from './report.ts';
import { searchPage } from './search.ts';
import { addressOf, keepBytes, type Shared, type Shown } from './shared-replies.ts';
import { readWeeks, transparencyPage, weeksAsCsv } from './transparency.ts';
import { createUsualWait } from './usual-wait.ts';
import { sentPage, sign, writePage } from './write.ts';

export interface SiteDeps {
  config: Config;
  keys: KeyRing;
  readPool: pg.Pool;
  store: EventStore;
  limits: RouteLimits;
  publicationKinds: readonly PublicationKind[];
  provableRecords: readonly ProvableRecord[];
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
  const usualWait = createUsualWait(deps);
  const findSealed = sealedPlaces(pool, deps.provableRecords);
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
  const developers = keep(() => developersPage(config));

  const bytesOf = keepBytes();
  const sharing = createCoalescer<Shown>();

  /** A page from which a program may start. */
  async function withLinks(shown: Promise<Shown>): Promise<Shown> {
    const reply = await shown;
    return { ...reply, headers: { ...reply.headers, link: SERVICE_LINK_HEADER } };
  }

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
    const asMarkdown = isNegotiated(call.route) && prefersMarkdown(call.request.accept);
    const name = `${asMarkdown ? 'markdown ' : ''}${addressOf(call)}`;
    return sharing(name, async () => {
      const page = await make(createReader(operations(), call.request));
      const kept = (make: () => Content) => bytesOf(name, page, make);
      return asMarkdown ? inMarkdown(page, kept) : rendered(page, kept);
    });
  }

  const inMarkdown = (page: Page, kept: (make: () => Content) => Content) => ({
    status: 200 as const,
    content: kept(() =>
      textContent('text/markdown', underNotice(config, toMarkdown(page, config.baseUrl))),
    ),
    headers: PLAIN_PAGE,
  });

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
    const make = async (reader: Reader) =>
      guestbookPage(reader, pool, of, before, await usualWait());
    return before === undefined ? show(call, make) : showOneOfMany(call, make);
  }

  return {
    ...feedHandlers(deps, sharing, bytesOf),
    'pages.guestbook': (call) => withLinks(showGuestbook(call, 'service')),
    'pages.guestbook_moved': async () => ({
      status: 308,
      content: { type: '', bytes: '' },
      headers: { location: '/' },
    }),
    'pages.guestbook_of': (call) => showGuestbook(call, guestbookNamed(call.params.experience)),
    'pages.note': (call) =>
      showOneOfMany(call, () => notePage(pool, call.params.id, call.query, findSealed)),
    'pages.write': async ({ query }) => rendered(await writePage(pool, query)),
    'pages.sign': async ({ request, body }) => {
      const outcome = await sign(operations(), pool, body, request, rendered);
      if ('again' in outcome) return { ...(await rendered(outcome.again)), status: 422 };
      const location = `/notes/${outcome.accepted}/sent`;
      return { status: 303, content: { type: '', bytes: '' }, headers: { location } };
    },
    'pages.note_sent': async ({ params }) =>
      rendered(await sentPage(deps.store.pool, params.id, config.undoWindowSeconds, usualWait)),
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
    'pages.case': (call) =>
      showOneOfMany(call, (reader) => casePage(reader, pool, findSealed, call.params.id)),
    'pages.packets': (call) =>
      showOneOfMany(call, (reader) => packetsPage(reader, pool, call.query)),
    'pages.packet': (call) =>
      showOneOfMany(call, (reader) => packetPage(reader, pool, findSealed, call.params.id)),
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
    'pages.for_agents': (call) => withLinks(show(call, async () => guide())),
    'pages.developers': (call) => withLinks(show(call, async () => developers())),
  };
}
