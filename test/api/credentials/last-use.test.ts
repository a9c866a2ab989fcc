import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { patient } from '../../../harness/patient.ts';
import { repeatWhile } from '../../support/repeat-while.ts';
import { type Service, startService } from '../../support/service.ts';
import { recordStatements } from '../../support/statements.ts';

async function recordedUses({ database }: Service) {
  const { rows } = await database.pool.query<{ id: string; day: string }>(
    'SELECT credential_id AS id, last_used_on::text AS day FROM credential_uses',
  );
  return rows;
}

/** The recorded uses, once there are as many as expected. */
async function usesOf(service: Service, count: number): Promise<Record<string, string>> {
  for (;;) {
    const rows = await recordedUses(service);
    if (rows.length >= count) return Object.fromEntries(rows.map(({ id, day }) => [id, day]));
    await sleep(50);
  }
}

const today = () => new Date().toISOString().slice(0, 10);

t.test('lists the last day on which each credential was used', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const unused = newCredential();
  await bootstrap(service, agent, unused);
  const day = today();
  const me = await agent.call('GET', '/api/v1/me');
  t.equal(me.body.credential.last_used_on, day);
  t.same(await usesOf(service, 1), { [agent.credential.credential_id]: day });
  const list = async () => {
    const { body } = await agent.call('GET', '/api/v1/me/credentials');
    return body.credentials.map((row: { last_used_on?: string }) => row.last_used_on);
  };
  t.same(await list(), [undefined, day]);

  await service.database.pool.query('UPDATE credential_uses SET last_used_on = last_used_on - 3');
  t.not((await list())[1], day);
  for (;;) {
    const [, used] = await list();
    if (used === day) break;
    await sleep(50);
  }
  t.pass('a later day replaces an earlier one');

  const { credential_id } = agent.credential;
  await agent.call('POST', '/api/v1/me/credentials/revoke', { credential_id });
  const authorization = toAuthorization(unused);
  const after = await agent.call('GET', '/api/v1/me/credentials', undefined, { authorization });
  t.match(after.body.credentials[1], { state: 'revoked', last_used_on: day });
});

t.test('sends no statement for the use of a credential that was used today', async (t) => {
  const statements = recordStatements(t);
  const service = await startService(t);
  const agent = await newAgent(service);
  await agent.call('GET', '/api/v1/me');
  await usesOf(service, 1);
  statements.clear();
  const { credential_id } = agent.credential;
  for (let n = 0; n < 20; n++) await agent.call('GET', '/api/v1/me');
  // A use of another credential is recorded after, or with, those before it.
  await (await newAgent(service)).call('GET', '/api/v1/me');
  await usesOf(service, 2);
  const sent = [...statements.values()].filter(({ values }) =>
    JSON.stringify(values).includes(credential_id),
  );
  t.equal(sent.length, 1, 'a request authenticates with one statement and sends no other');
  t.match(sent[0]?.text, /^SELECT c.credential_id/);
});

t.test('records concurrent uses of several credentials with one statement', async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  const statements = recordStatements(t);
  const record = async (turn: number) => {
    const agents = [];
    for (let n = 0; n < 8; n++) agents.push(await newAgent(patient(service)));
    statements.clear();
    const answers = await Promise.all(
      agents.flatMap(({ call }) => Array.from({ length: 5 }, () => call('GET', '/api/v1/me'))),
    );
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
    await usesOf(service, turn * agents.length);
    const write = [...statements.values()].find(({ text }) => /INTO credential_uses/.test(text));
    return String(write?.values[0]).split(',');
  };
  // On a busy machine, the second use may come after the first was written.
  const ids = await repeatWhile(({ length }) => length < 2, record);
  t.ok(ids.length > 1, `${ids.length} credentials in one write`);
  t.equal(new Set(ids).size, ids.length);
});

t.test('answers while uses cannot be written', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { pool } = service.database;
  const statements = recordStatements(t);
  const writes = () =>
    [...statements.values()].find(({ text }) => /INTO credential_uses/.test(text))?.times ?? 0;
  await pool.query('ALTER TABLE credential_uses ADD CONSTRAINT refused CHECK (false)');
  t.equal((await agent.call('GET', '/api/v1/me')).status, 200);
  while (writes() === 0) await sleep(20);
  t.equal((await agent.call('GET', '/api/v1/me')).status, 200);
  await pool.query('ALTER TABLE credential_uses DROP CONSTRAINT refused');
  // A use that comes while the failed write ends is recorded with the next one.
  while ((await recordedUses(service)).length === 0) {
    t.equal((await agent.call('GET', '/api/v1/me')).status, 200);
    await sleep(50);
  }
  t.pass('the next use after the failure is recorded');
});
