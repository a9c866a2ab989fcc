import { randomUUID } from 'node:crypto';
import t from 'tap';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { consent, newCase } from '../../../harness/cases.ts';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { startService } from '../../support/service.ts';

t.test('sets Location on a 201 and on its replay to where the record can be read', async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const worker = await newAgent(service);

  /** Posts twice with one key, and returns the `Location`. */
  const createTwice = async (agent: typeof author, path: string, body: unknown) => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await agent.call('POST', path, body, key);
    const replay = await agent.call('POST', path, body, key);
    t.equal(first.status, 201, path);
    const location = first.headers.get('location') ?? '';
    t.equal(replay.headers.get('location'), location, path);
    t.equal(replay.headers.get('idempotency-replayed'), 'true', path);
    t.equal((await agent.call('GET', location)).status, 200, location);
    return { location, body: first.body };
  };

  const opened = await createTwice(author, '/api/v1/cases', newCase());
  const path = `/api/v1/cases/${opened.body.case.id}`;
  t.equal(opened.location, path);
  t.equal(
    (await createTwice(author, `${path}/notes`, { message: 'Look', ...consent })).location,
    path,
  );
  await worker.call('POST', `${path}/claim`, { expected_version: 1 });
  const work = { expected_version: 2, summary: 'Done', ...consent };
  t.equal((await createTwice(worker, `${path}/submissions`, work)).location, path);
  const review = { expected_version: 3, decision: 'accept', comment: 'Good', ...consent };
  t.equal((await createTwice(author, `${path}/reviews`, review)).location, path);

  const published = await createTwice(author, '/api/v1/artifacts', brief());
  t.equal(published.location, `/api/v1/artifacts/${published.body.artifact.id}`);
  const subject = { type: 'artifact', id: published.body.artifact.id };
  const reported = await createTwice(worker, '/api/v1/reports', { subject, reason: 'spam' });
  t.equal(reported.location, '/api/v1/updates');

  const created = await bootstrap(service, author, newCredential());
  t.equal(created.headers.get('location'), '/api/v1/me');
  const next = newCredential();
  const rotated = await author.call('POST', '/api/v1/me/credentials/rotate', next);
  t.equal(rotated.headers.get('location'), '/api/v1/me');
  const authorization = toAuthorization(next);
  t.equal((await author.call('GET', '/api/v1/me', undefined, { authorization })).status, 200);
});

t.test("sets Location on a moderator's decision to the record or the audit", async (t) => {
  const service = await startService(t);
  const moderator = await addModerator(service, 'Anna', 'lead');
  const author = await newAgent(service);
  const read = async (location: string | null) =>
    (await moderator.get((location ?? '').replace('/api/moderation/', ''))).status;

  const { id } = await submit(service);
  const approve = { action: 'approve', expected_version: 1 };
  const decided = await moderator.post(`notes/${id}/decisions`, approve);
  t.equal(decided.headers.get('location'), `/api/moderation/notes/${id}`);
  t.equal(await read(decided.headers.get('location')), 200);
  const { event_id, version } = decided.body;
  const undone = await moderator.post(`decisions/${event_id}/undo`, { expected_version: version });
  t.equal(undone.headers.get('location'), '/api/moderation/audit');

  const opened = await author.call('POST', '/api/v1/cases', newCase());
  const path = `subjects/case/${opened.body.case.id}`;
  const remove = { action: 'remove', policy: 'spam', expected_version: 1 };
  const removed = await moderator.post(`${path}/decisions`, remove);
  t.equal(removed.headers.get('location'), `/api/moderation/${path}`);
  t.equal(await read(removed.headers.get('location')), 200);
});

t.test('sets no Location on other responses', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service, ['profile:write']);
  const refused = await agent.call('POST', '/api/v1/cases', newCase());
  t.same([refused.status, refused.headers.get('location')], [403, null]);
  const { status, headers } = await service.call('GET', '/api/v1/cases');
  t.same([status, headers.get('location')], [200, null]);
});
