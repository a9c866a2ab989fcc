import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { newKey } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

const lines = (service: Service, message: string) =>
  service.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);

t.test('names caller, trace, address and problem of a request in the log', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const headers = { authorization: agent.authorization };
  service.logged.length = 0;
  await service.call('GET', '/api/v1/me', {
    headers: { ...headers, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
  });
  await service.call('GET', '/api/v1/nothing', { headers: { 'x-request-id': 'deploy-check.17' } });
  await service.call('GET', '/livez', { headers: { 'x-request-id': 'bad id' } });
  const [me, nothing, probe] = lines(service, 'request');
  t.match(me, {
    level: 'info',
    time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    trace_id: TRACE,
    member: agent.id,
    credential: agent.credential.credential_id,
    status: 200,
  });
  t.match(nothing, { trace_id: 'deploy-check.17', status: 404, code: 'not_found' });
  t.match(probe, { level: 'debug', status: 200 });
  t.notOk('trace_id' in probe, 'an id that is not well formed is dropped');
  t.equal(me.address, nothing.address);
  t.notMatch(service.logged.join(''), /127\.0\.0\.1/, 'no address is logged as it is');
});

t.test('stores the trace of a request with the jobs that it causes', async (t) => {
  const service = await startService(t);
  const body = { id: randomUUID(), message: 'Hello' };
  const headers = { 'x-request-id': 'a-trace-of-mine' };
  const answer = await service.call('POST', '/api/guestbook', { body, headers });
  t.equal(answer.status, 202);
  const { rows } = await service.database.pool.query(
    `SELECT data FROM pgboss.job WHERE name = 'screen-note'`,
  );
  t.match(rows, [{ data: { note_ids: [body.id], trace_ids: ['a-trace-of-mine'] } }]);
});

t.test('logs failed sign-ins, recoveries, refused scopes and moderator actions', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service, ['updates:read']);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  service.logged.length = 0;
  const { id } = agent;
  await service.call('POST', '/api/membership/login', { body: { id, sign_in_key: newKey() } });
  const recovery = {
    id,
    operation_id: randomUUID(),
    recovery_key: newKey(),
    new_sign_in_key: newKey(),
    new_recovery_key: newKey(),
  };
  await service.call('POST', '/api/membership/recover', { body: recovery });
  const right = { ...recovery, recovery_key: agent.recovery_key, operation_id: randomUUID() };
  t.equal((await service.call('POST', '/api/membership/recover', { body: right })).status, 200);
  const other = await newAgent(service, ['updates:read']);
  await other.call('GET', '/api/v1/me/export');
  await decide(ann, note.id, 'approve');
  t.same(
    lines(service, 'security').map(({ event, level }) => `${event} ${level}`),
    [
      'sign_in_failed warn',
      'recovery_failed warn',
      'recovered info',
      'scope_refused warn',
      'moderator_action info',
    ],
  );
  t.match(lines(service, 'security').at(-1), { moderator: ann.id, operation: 'moderation.decide' });
});
