import { createCaseCommands, createOpenCase } from './cases.ts';
import { decide, submit } from './moderation.ts';
import { publishArtifact, publishProfile } from './records.ts';
import {
  createOperation,
  expectSuccess,
  type Operation,
  type Traffic,
} from './traffic-operation.ts';

/** Rows to skip for a page far within a list. */
const FAR = 500;

/** Reads: lists (first page and a page far within), records, and member and moderator views. */
export async function reads(traffic: Traffic): Promise<Operation[]> {
  const { api, ann, moderator, lead, limit } = traffic;
  await publishProfile(ann);
  const artifact = await publishArtifact(ann);
  const caseId = await createOpenCase(createCaseCommands(ann));
  // No other guest has this name, so what is known of the author does not grow with the traffic.
  const note = await submit(api, { name: 'Grace' });
  await decide(moderator, note.id, 'approve');
  await traffic.prepareSubjects?.({ memberId: ann.id, caseId, noteId: note.id });
  const get = (path: string) => api.call('GET', path);
  const lists = [
    '/api/v1/agents',
    '/api/v1/artifacts',
    '/api/v1/artifacts?kind=brief',
    `/api/v1/artifacts?author_id=${ann.id}`,
    `/api/v1/artifacts?author_id=${ann.id}&kind=brief`,
    '/api/v1/cases',
    ...['open', 'claimed', 'submitted', 'accepted'].map((state) => `/api/v1/cases?state=${state}`),
    `/api/v1/cases?author_id=${ann.id}`,
    `/api/v1/cases?author_id=${ann.id}&state=open`,
    '/api/v1/activity',
    '/api/v1/activity?type=artifact.published',
    '/api/v1/activity?type=note.approved',
    '/api/v1/search?q=note',
    '/api/v1/search?q=note&type=note',
    '/api/transparency',
  ];
  const operations = [
    '/api/guestbook',
    '/api/guestbook?experience=observatory',
    `/api/guestbook?parent_id=${note.id}`,
    `/api/guestbook/${note.id}`,
    `/api/v1/agents/${ann.id}`,
    `/api/v1/agents?handle=${ann.handle}`,
    `/api/v1/agents?ids=${ann.id}`,
    `/api/v1/artifacts?ids=${artifact.id}`,
    `/api/v1/cases?ids=${caseId}`,
    `/api/v1/artifacts/${artifact.id}`,
    `/api/v1/cases/${caseId}`,
    '/api/v1/discovery',
    '/api/v1/status',
    '/readyz',
    '/',
    '/guestbook/observatory',
    `/notes/${note.id}`,
    ...['atom', 'json'].flatMap((format) => [
      `/guestbook/service.${format}`,
      `/notes/${note.id}.${format}`,
      `/members/${ann.handle}.${format}`,
      `/cases.${format}?state=open`,
      `/packets.${format}`,
      `/activity.${format}`,
    ]),
    '/write?in=service',
    `/write?reply_to=${note.id}`,
    `/notes/${note.id}/sent`,
    `/report?type=note&id=${note.id}`,
    '/report/sent',
    '/favicon.ico',
    '/members',
    `/members/${ann.handle}`,
    '/cases',
    '/cases?state=open',
    `/cases/${caseId}`,
    '/packets',
    '/packets?kind=brief',
    `/packets/${artifact.id}`,
    '/activity',
    '/search?q=note',
    '/me',
    '/about',
    '/transparency',
    '/transparency.csv',
    '/for-agents',
    '/developers',
  ].map((path) => createOperation(`GET ${named(path)}`, () => get(path)));
  for (const path of lists) {
    const joined = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}&`;
    operations.push(createOperation(`GET ${named(path)}`, () => get(joined.slice(0, -1))));
    const cursor = await farWithin(FAR / limit, async (cursor) => {
      const asked = cursor ? `cursor=${encodeURIComponent(cursor)}` : '';
      return (await expectSuccess(get(`${joined}${asked}`))).next_cursor;
    });
    if (cursor)
      operations.push(
        createOperation(`GET ${named(path)}, far within`, () =>
          get(`${joined}cursor=${encodeURIComponent(cursor)}`),
        ),
      );
  }
  for (const words of ['word17', 'packet17', 'Member 17', 'zebra'])
    operations.push(createOperation(`POST /mcp, search ${words}`, () => search(traffic, words)));
  const feed = (await expectSuccess(ann.call('GET', '/api/v1/updates?limit=1'))).next_cursor;
  operations.push(
    createOperation('GET /api/v1/me', () => ann.call('GET', '/api/v1/me')),
    ...['', '?role=author', '?role=claimant'].map((role) =>
      createOperation(`GET /api/v1/me/cases${role}`, () =>
        ann.call('GET', `/api/v1/me/cases${role}`),
      ),
    ),
    createOperation('GET /api/v1/me/credentials', () => ann.call('GET', '/api/v1/me/credentials')),
    createOperation('GET /api/v1/updates of a type', () =>
      ann.call('GET', '/api/v1/updates?types=case.*'),
    ),
    createOperation('GET /api/v1/updates', () => ann.call('GET', '/api/v1/updates')),
    createOperation('GET /api/v1/updates, from a cursor', () =>
      ann.call('GET', `/api/v1/updates?cursor=${feed}`),
    ),
    createOperation('GET /api/v1/me/export', () => ann.call('GET', '/api/v1/me/export')),
    createOperation('GET /api/membership/me', () => api.call('GET', '/api/membership/me', traffic)),
    createOperation('GET /api/membership/sessions', () =>
      api.call('GET', '/api/membership/sessions', traffic),
    ),
  );
  for (const view of ['todo', 'mine', 'escalated', 'deferred', 'reported', 'appeals', 'decided'])
    for (const me of [moderator, lead])
      operations.push(
        createOperation(`GET /api/moderation/queue, ${view}${me === lead ? ', lead' : ''}`, () =>
          me.get(`queue?view=${view}&limit=${limit}`),
        ),
      );
  const within = (await expectSuccess(moderator.get('queue?view=decided&limit=100'))).next_cursor;
  operations.push(
    createOperation('GET /api/moderation/queue, decided, next page', () =>
      moderator.get(
        `queue?view=decided&limit=${limit}${within ? `&cursor=${encodeURIComponent(within)}` : ''}`,
      ),
    ),
    createOperation('GET /api/moderation/queue, of an author', () =>
      moderator.get(`queue?view=decided&limit=${limit}&author=${ann.handle}`),
    ),
    createOperation('GET /api/moderation/queue, with a text', () =>
      moderator.get(`queue?view=decided&limit=${limit}&q=e`),
    ),
    createOperation('GET /api/moderation/queue, with a finding', () =>
      moderator.get(`queue?view=decided&limit=${limit}&finding=links`),
    ),
    ...[
      'experience=service',
      'view=reported&reason=spam',
      'view=decided&type=case',
      'view=decided&policy=spam',
      'script=latin',
      ...['guest', 'new', 'clean', 'mixed'].map((record) => `author_record=${record}`),
      'sort=newest',
    ].flatMap((filter) =>
      [moderator, lead].map((me) =>
        createOperation(
          `GET /api/moderation/queue, ${named(filter)}${me === lead ? ', lead' : ''}`,
          () => me.get(`queue?limit=${limit}&${filter}`),
        ),
      ),
    ),
    createOperation('GET /api/moderation/folds', () => moderator.get('folds')),
    createOperation('GET /api/moderation/views', () => moderator.get('views')),
    createOperation('GET /api/moderation/queue, older than', () =>
      moderator.get(`queue?older_than=60&limit=${limit}`),
    ),
    createOperation('POST /api/v1/cases/:case_id/notes, where all others took part', () =>
      createCaseCommands(ann).note(caseId),
    ),
    createOperation('POST /api/guestbook/:id/report, of a reported note', () =>
      api.call('POST', `/api/guestbook/${note.id}/report`, {
        body: { reason: 'spam' },
        cookie: traffic.cookie,
      }),
    ),
    createOperation('GET /api/moderation/notes/:id', () => moderator.get(`notes/${note.id}`)),
    createOperation('GET /api/moderation/subjects/:type/:id', () =>
      moderator.get(`subjects/artifact/${artifact.id}`),
    ),
    createOperation('GET /api/moderation/queue, only some', () =>
      moderator.get(`queue?view=decided&only=${note.id}`),
    ),
    ...[`note/${note.id}`, `artifact/${artifact.id}`, `member/${ann.id}`].map((subject) =>
      createOperation(`GET /api/moderation/subjects/:type/:id/comments, ${named(subject)}`, () =>
        moderator.get(`subjects/${subject}/comments`),
      ),
    ),
    ...['moderator=Ann', 'policy=spam', `subject=${note.id}`].map((filter) =>
      createOperation(`GET /api/moderation/audit, ${named(filter)}`, () =>
        moderator.get(`audit?order=newest&limit=${limit}&${filter}`),
      ),
    ),
    createOperation('GET /api/moderation/audit', () => moderator.get(`audit?limit=${limit}`)),
    createOperation('GET /api/moderation/audit, newest', () =>
      moderator.get(`audit?order=newest&limit=${limit}`),
    ),
    createOperation('GET /api/moderation/me', () => moderator.get('me')),
    createOperation('GET /api/moderation/policies', () => moderator.get('policies')),
    createOperation('GET /api/moderation/policies/backtest', () =>
      moderator.get(`policies/backtest?limit=${limit}`),
    ),
    createOperation('GET /api/moderation/stats', () => moderator.get('stats')),
  );
  return operations;
}

const named = (path: string) =>
  path
    .replaceAll(/[0-9a-f-]{36}/g, ':id')
    .replace(/^\/members\/\w+/, '/members/:handle')
    .replace(/\?handle=\w+/, '?handle=:handle');

/** The cursor after `pages` pages or, in a shorter list, the last that a full page follows. */
async function farWithin(
  pages: number,
  next: (cursor: string | null) => Promise<string | null>,
): Promise<string | null> {
  let whole: string | null = null;
  let cursor: string | null = null;
  for (let page = 0; page <= pages; page++) {
    const found: string | null = await next(cursor);
    if (!found) break;
    [whole, cursor] = [cursor, found];
  }
  return whole;
}

function search({ api }: Traffic, query: string) {
  return api.call('POST', '/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_public', arguments: { query } },
    },
  });
}
