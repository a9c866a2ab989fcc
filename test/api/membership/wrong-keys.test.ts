import { randomUUID } from 'node:crypto';
import t from 'tap';
import { bootstrap, newAgent, newCredential } from '../../../harness/agent.ts';
import { newKey, newRegistration } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';
import { recordWork } from '../../support/work-done.ts';

interface Named {
  id: string;
  handle: string;
}

/** The routes that a member's key proves, each with a wrong key. */
const ATTEMPTS: Readonly<
  Record<string, (service: Service, member: Named) => ReturnType<Service['call']>>
> = {
  'a sign-in': (service, { id }) =>
    service.call('POST', '/api/membership/login', { body: { id, sign_in_key: newKey() } }),
  'a sign-in with the handle': (service, { handle }) =>
    service.call('POST', '/api/membership/sign-in', { body: { handle, sign_in_key: newKey() } }),
  'a recovery': (service, { id }) =>
    service.call('POST', '/api/membership/recover', {
      body: {
        id,
        recovery_key: newKey(),
        new_sign_in_key: newKey(),
        new_recovery_key: newKey(),
        operation_id: randomUUID(),
      },
    }),
  'a credential': (service, { id }) =>
    bootstrap(service, { id, sign_in_key: newKey() }, newCredential()),
};

for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  t.test(
    `${name}: a wrong key costs the same work for a known and an unknown member`,
    async (t) => {
      const service = await startService(t);
      const member = await newAgent(service);
      const gone = await newAgent(service);
      await gone.call('POST', '/api/v1/me/delete', { confirm_handle: gone.handle });
      const answers: { status: number; error: object }[] = [];
      const work = [];
      for (const named of [member, gone, newRegistration()]) {
        work.push(await recordWork(() => attempt(service, named)));
        const { status, body } = await attempt(service, named);
        answers.push({ status, error: { ...body.error, request_id: '' } });
      }
      t.strictSame(work[0], work[2], 'known');
      t.strictSame(work[1], work[2], 'deleted');
      t.match(answers[2], { status: 401 });
      t.strictSame(answers[0], answers[2]);
      t.strictSame(answers[1], answers[2]);
    },
  );

  t.test(`${name}: a wrong key neither takes nor waits for the member's lock`, async (t) => {
    const service = await startService(t);
    const member = await newAgent(service);
    const client = await service.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM feed_heads WHERE member_id = $1 FOR UPDATE', [member.id]);
      t.equal((await attempt(service, member)).status, 401);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
}
