import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { publishArtifact } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { sweepSessions } from '../../../workers/membership/expire-sessions.ts';
import { type Service, startService } from '../../support/service.ts';

const countRows = async (service: Service, text: string): Promise<number> =>
  (await service.database.pool.query(text)).rows[0].count;

const countReceipts = (service: Service) =>
  countRows(service, 'SELECT count(*)::int AS count FROM receipts');

t.test('stores nothing for a write that changes nothing', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await newAgent(service), await newAgent(service)];
  const lea = await addModerator(service, 'Lea', 'lead');
  const record = await publishArtifact(ann);
  const spare = await signedIn(service);
  const revoke = { credential_id: ann.credential.credential_id };
  await bob.call('POST', '/api/v1/me/credentials/revoke', { all_others: true });
  const report = { subject: { type: 'artifact', id: record.id }, reason: 'spam' };
  t.equal((await bob.call('POST', '/api/v1/reports', report)).status, 201);
  const note = await submit(service);
  const claimed = await lea.post('claims', { note_ids: [note.id] });
  const [{ lease_id }] = claimed.body.claims;
  await ann.call('POST', '/api/v1/me/credentials/revoke', revoke);
  const before = await countReceipts(service);

  for (const answer of [
    await bob.call('POST', '/api/v1/me/credentials/revoke', { all_others: true }),
    await bob.call('POST', '/api/v1/reports', report),
  ]) {
    t.equal(answer.status, 200, answer.text);
    t.match(answer.body.receipt, { operation_id: String, event_ids: [] });
  }
  const keyed = (path: string, body: object) =>
    service.call('POST', `/api/moderation/${path}`, {
      body,
      headers: { authorization: `Bearer ${lea.token}`, 'idempotency-key': randomUUID() },
    });
  t.equal((await keyed('claims', { note_ids: [note.id] })).body.claims.length, 1);
  t.same((await keyed('claims', { count: 1 })).body.claims, []);
  t.equal(await countReceipts(service), before, 'no receipt was stored');
  const released = await keyed('claims/release', { lease_ids: [lease_id] });
  t.same(released.body.released, [lease_id]);
  t.equal(await countReceipts(service), before + 1, 'a claim has a receipt, but no event');
  t.same((await keyed('claims/release', { lease_ids: [lease_id] })).body.released, []);
  t.equal(await countReceipts(service), before + 1);
  t.ok(spare.cookie);
});

t.test('ends the oldest of fifty sessions, and deletes ended ones later', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '1000' });
  const { pool } = service.database;
  const { id, sign_in_key, cookie } = await signedIn(service);
  const me = () => service.call('GET', '/api/membership/me', { cookie });
  for (let count = 0; count < 49; count++)
    await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal((await me()).body.status, 'ok');
  await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.not((await me()).body.status, 'ok', 'the oldest session has ended');
  const live = 'SELECT count(*)::int AS count FROM sessions WHERE ended_at IS NULL';
  t.equal(await countRows(service, live), 50);
  t.equal(await sweepSessions(service.core), 0);
  await pool.query(`UPDATE sessions SET ended_at = ended_at - interval '31 days'`);
  t.equal(await sweepSessions(service.core), 1);
  t.equal(await countRows(service, live), 50);
});

t.test('lets a member hold at most 25 cases', async (t) => {
  const service = await startService(t);
  const author = createCaseCommands(await newAgent(service));
  const worker = createCaseCommands(await newAgent(service));
  const cases: string[] = [];
  for (let count = 0; count < 26; count++) cases.push(await createOpenCase(author));
  const [first = '', ...rest] = cases;
  for (const id of rest) t.equal((await worker.claim(id, 1)).status, 200);
  const refused = await worker.claim(first, 1);
  t.match(refused, {
    status: 409,
    body: { error: { reason: 'held_case_limit', limit: 25 } },
  });
  t.equal((await worker.claim(rest[0] ?? '', 2)).status, 200, 'an extension is no further case');
  await worker.release(rest[1] ?? '', 2);
  t.equal((await worker.claim(first, 1)).status, 200);
});
