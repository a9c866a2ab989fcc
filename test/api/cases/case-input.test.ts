import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { consent, createCaseCommands, createOpenCase, newCase } from '../../../harness/cases.ts';
import { type Service, startService } from '../../support/service.ts';

const member = async (service: Service) => createCaseCommands(await newAgent(service));
const get = (service: Service, path: string, headers: Record<string, string> = {}) =>
  service.call('GET', `/api/v1/cases${path}`, { headers });

t.test('refuses invalid input with its path and changes nothing', async (t) => {
  const service = await startService(t);
  const author = await member(service);
  const { call } = author.agent;
  const invalid: [object, string][] = [
    [{ title: '' }, 'title'],
    [{ title: ' \n' }, 'title'],
    [{ title: 'x'.repeat(161) }, 'title'],
    [{ summary: 'x'.repeat(2001) }, 'summary'],
    [{ objective: 'x'.repeat(4001) }, 'objective'],
    [{ acceptance_criteria: [] }, 'acceptance_criteria'],
    [{ acceptance_criteria: Array(51).fill('x') }, 'acceptance_criteria'],
    [{ acceptance_criteria: ['x', 'x'.repeat(501)] }, 'acceptance_criteria.1'],
    [{ artifact_id: 'none' }, 'artifact_id'],
    [{ visibility: 'private' }, 'visibility'],
    [{ publish_consent: false }, 'publish_consent'],
    [{ policy_version: 'service-public-v2' }, 'policy_version'],
  ];
  for (const [more, path] of invalid) {
    const answer = await author.open(more);
    t.equal(answer.status, 400, JSON.stringify(more).slice(0, 80));
    t.match(answer.body.error, { code: 'invalid_request', issues: [{ path }] });
  }
  t.equal((await author.open({ more: 1 })).status, 400);
  t.equal(
    (await author.open({ title: '😀'.repeat(160) })).status,
    201,
    'the limit counts code points',
  );
  const id = await createOpenCase(author);
  const post = (path: string, body: object) => call('POST', `/api/v1/cases/${path}`, body);
  for (const [path, body] of [
    [`${id}/claim`, {}],
    [`${id}/claim`, { expected_version: 0 }],
    [`${id}/claim`, { expected_version: 1, lease_seconds: 299 }],
    [`${id}/claim`, { expected_version: 1, lease_seconds: 86_401 }],
    [`${id}/submissions`, { expected_version: 1, summary: 'x' }],
    [`${id}/submissions`, { expected_version: 1, summary: 'x'.repeat(4001), ...consent }],
    [`${id}/reviews`, { expected_version: 1, decision: 'maybe', comment: 'x', ...consent }],
    [`${id}/reviews`, { expected_version: 1, decision: 'accept', comment: '', ...consent }],
    [`${id}/notes`, { message: 'x'.repeat(2001), ...consent }],
    [`${id}/notes`, { message: 'x' }],
    ['none/claim', { expected_version: 1 }],
  ] as const)
    t.equal((await post(path, body)).status, 400, `${path} ${JSON.stringify(body).slice(0, 80)}`);
  t.equal((await post(`${randomUUID()}/claim`, { expected_version: 1 })).status, 404);
  t.equal((await get(service, `/${randomUUID()}`)).status, 404);
  t.equal((await get(service, '/none')).status, 400);
  for (const query of ['?state=lost', '?limit=0', '?limit=101', '?author_id=x', '?limit=1&limit=2'])
    t.equal((await get(service, query)).body.error.code, 'invalid_request', query);
  t.equal((await get(service, '?mine=1')).body.error.code, 'query_not_allowed');
  t.equal((await get(service, '?cursor=x')).body.error.code, 'invalid_cursor');
  const events = `SELECT 1 FROM events WHERE type LIKE 'Case%'`;
  t.equal((await service.database.pool.query(events)).rowCount, 2);
});

t.test("requires a route's scope, and closes all case routes with API_OPEN=false", async (t) => {
  const service = await startService(t);
  const reader = createCaseCommands(await newAgent(service, ['updates:read']));
  const id = randomUUID();
  for (const [answer, scope] of [
    [reader.open(), 'case:create'],
    [reader.claim(id, 1), 'case:claim'],
    [reader.release(id, 1), 'case:claim'],
    [reader.submit(id, 1), 'case:submit'],
    [reader.review(id, 1, 'accept'), 'case:review'],
    [reader.withdraw(id, 1), 'case:create'],
    [reader.note(id), 'case:note'],
  ] as const) {
    const { status, body } = await answer;
    t.equal(status, 403);
    t.match(body.error, { code: 'scope_required', scope });
  }
  const anonymous = await service.call('POST', '/api/v1/cases', { body: newCase() });
  t.equal(anonymous.status, 401);
  const closedService = await startService(t, { API_OPEN: 'false' });
  const agent = createCaseCommands(await newAgent(closedService));
  t.equal((await get(closedService, '')).body.error.code, 'api_disabled');
  t.equal((await agent.open()).body.error.code, 'api_disabled');
});
