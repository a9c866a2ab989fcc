import { randomUUID } from 'node:crypto';
import t from 'tap';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { newKey } from '../../../harness/registration.ts';
import { expireCredentials } from '../../../workers/credentials/expire-credentials.ts';
import { startService } from '../../support/service.ts';

const ROTATE = '/api/v1/me/credentials/rotate';
const REVOKE = '/api/v1/me/credentials/revoke';

t.test("deletes a credential's verifier when the credential ends", async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  const agent = await newAgent(service);
  const createCredential = async () => {
    const credential = newCredential();
    t.equal((await bootstrap(service, agent, credential)).status, 201);
    return credential;
  };
  const readVerified = async () => {
    const { rows } = await service.database.pool.query<{ subject_id: string }>(
      `SELECT subject_id FROM verifiers WHERE purpose = 'credential'`,
    );
    return rows.map(({ subject_id }) => subject_id).sort();
  };
  const [manager, short, lasting] = [
    await createCredential(),
    await createCredential(),
    await createCredential(),
  ];
  const authorization = toAuthorization(manager);
  const ids = (...credentials: { credential_id: string }[]) =>
    credentials.map(({ credential_id }) => credential_id).sort();
  t.same(await readVerified(), ids(agent.credential, manager, short, lasting));

  const next = newCredential();
  t.equal((await agent.call('POST', ROTATE, next)).status, 201);
  t.same(await readVerified(), ids(next, manager, short, lasting), 'rotated');

  await agent.call('POST', REVOKE, { credential_id: next.credential_id }, { authorization });
  t.same(await readVerified(), ids(manager, short, lasting), 'revoked');

  await service.tamper(
    `UPDATE credentials SET expires_at = now() - interval '1 second' WHERE credential_id = $1`,
    [short.credential_id],
  );
  t.equal(await expireCredentials(service.core), 1);
  t.same(await readVerified(), ids(manager, lasting), 'expired');

  const recovery = {
    id: agent.id,
    recovery_key: agent.recovery_key,
    new_sign_in_key: newKey(),
    new_recovery_key: newKey(),
    operation_id: randomUUID(),
  };
  const recovered = await service.call('POST', '/api/membership/recover', { body: recovery });
  t.equal(recovered.status, 200);
  t.same(await readVerified(), [], 'recovered');
  const { rows } = await service.database.pool.query(
    'SELECT purpose FROM verifiers ORDER BY purpose',
  );
  t.same(
    rows,
    [{ purpose: 'recovery' }, { purpose: 'sign-in' }],
    "the member's own keys keep their verifiers",
  );
});
