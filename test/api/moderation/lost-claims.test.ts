import { randomUUID } from 'node:crypto';
import t from 'tap';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { wireProxy } from '../../../harness/wire-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { whileWaitingForLock } from '../../support/meanwhile.ts';
import { startService } from '../../support/service.ts';

t.test('finds a claim whose response from the database was lost and makes it once', async (t) => {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
  });
  const ann = await addModerator(service, 'ann');
  const notes: string[] = [];
  for (let n = 0; n < 4; n++) notes.push((await submit(service)).id);
  const readLeaseIds = async () => (await ann.get('me')).body.leases.map(toLeaseId).sort();
  const toLeaseId = ({ lease_id }: { lease_id: string }) => lease_id;

  proxy.dropAnswer('INTO note_leases');
  const first = await ann.post('claims', { count: 2 });
  t.equal(proxy.fired(), 1);
  t.equal(first.status, 200, first.text);
  t.same(first.body.claims.map(toLeaseId).sort(), await readLeaseIds());
  t.equal((await readLeaseIds()).length, 2, 'the claim was made once');

  proxy.dropCommitReply('INTO note_leases');
  const rest = await ann.post('claims', { note_ids: notes });
  t.equal(proxy.fired(), 2);
  t.equal(rest.status, 200, rest.text);
  t.same(rest.body.claims.map(toLeaseId).sort(), await readLeaseIds());

  proxy.dropCommitReply('UPDATE note_leases');
  const renewed = await ann.post('claims/renew', { lease_ids: await readLeaseIds() });
  t.equal(proxy.fired(), 3);
  t.same(renewed.body.renewed?.sort(), await readLeaseIds(), renewed.text);
});

t.test('a claim of one item without a key whose answer was lost says so', async (t) => {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
  });
  const ann = await addModerator(service, 'ann');
  await submit(service);
  proxy.dropCommitReply('INTO note_leases');
  const claim = await ann.post('claims', { count: 1 });
  t.equal(proxy.fired(), 1);
  t.match(claim, { status: 503, body: { error: { code: 'outcome_unconfirmed' } } });
  t.equal((await ann.get('me')).body.leases.length, 1);
});

t.test('a claim whose item another moderator takes meanwhile claims the next one', async (t) => {
  for (const headers of [{}, { 'idempotency-key': randomUUID() }]) {
    const service = await startService(t);
    const { pool } = service.database;
    const [ann, bob] = [await addModerator(service, 'ann'), await addModerator(service, 'bob')];
    const notes: string[] = [];
    for (let n = 0; n < 4; n++) notes.push((await submit(service)).id);

    const claimed = await whileWaitingForLock(
      pool,
      `INSERT INTO note_leases VALUES (gen_random_uuid(), 'note', '${notes[0]}', '${bob.id}',
        clock_timestamp(), clock_timestamp() + interval '5 minutes')`,
      () =>
        service.call('POST', '/api/moderation/claims', {
          body: { count: 2 },
          headers: { authorization: `Bearer ${ann.token}`, ...headers },
        }),
      async () => undefined,
    );

    t.equal(claimed.status, 200, claimed.text);
    const ids = claimed.body.claims.map(({ note_id }: { note_id: string }) => note_id);
    t.same(ids, notes.slice(1, 3));
    t.equal((await ann.get('me')).body.leases.length, 2);
  }
});
