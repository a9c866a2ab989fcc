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
  const one = await ann.post('claims', { count: 1 });
  t.equal(proxy.fired(), 2);
  t.equal(one.status, 200, one.text);
  t.equal((await readLeaseIds()).length, 3, 'the commit was found');

  proxy.dropCommitReply('INTO note_leases');
  const rest = await ann.post('claims', { note_ids: notes });
  t.equal(proxy.fired(), 3);
  t.equal(rest.status, 200, rest.text);
  t.same(rest.body.claims.map(toLeaseId).sort(), await readLeaseIds());

  proxy.dropCommitReply('UPDATE note_leases');
  const renewed = await ann.post('claims/renew', { lease_ids: await readLeaseIds() });
  t.equal(proxy.fired(), 4);
  t.same(renewed.body.renewed?.sort(), await readLeaseIds(), renewed.text);
});

t.test(
  'waits for the disk with a key, or if a lead takes over, but not for a mere claim',
  async (t) => {
    const database = await testDatabase(t);
    const { pool } = database;
    // The server of the tests has it off, to be faster.
    await pool.query(
      `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET synchronous_commit = on`,
    );
    await pool.query(`CREATE TABLE settings (at serial, setting text);
    CREATE FUNCTION note_setting() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO settings (setting) VALUES (current_setting('synchronous_commit'));
        RETURN NULL; END $$;
    CREATE TRIGGER note_setting AFTER INSERT OR UPDATE OR DELETE ON note_leases
      FOR EACH ROW EXECUTE FUNCTION note_setting()`);
    const service = await startService(t, { DATABASE_URL: database.url });
    const [ann, lead] = [
      await addModerator(service, 'ann'),
      await addModerator(service, 'lia', 'lead'),
    ];
    const notes: string[] = [];
    for (let n = 0; n < 3; n++) notes.push((await submit(service)).id);
    const settings = async (act: Promise<{ status: number; text: string }>) => {
      const { status, text } = await act;
      t.equal(status, 200, text);
      const { rows } = await pool.query('DELETE FROM settings RETURNING setting');
      return rows.map(({ setting }) => setting);
    };
    t.same(await settings(ann.post('claims', { count: 1 })), ['off']);
    t.same(await settings(ann.post('claims', { note_ids: [notes[1]] })), ['off']);
    const { leases } = (await ann.get('me')).body;
    const lease_ids = leases.map(({ lease_id }: { lease_id: string }) => lease_id);
    t.same(await settings(ann.post('claims/renew', { lease_ids })), ['off', 'off']);
    t.same(
      await settings(lead.post('claims', { note_ids: [notes[1]], take_over: true })),
      ['on'],
      'taking over is an event',
    );
    t.same(
      await settings(
        service.call('POST', '/api/moderation/claims', {
          body: { count: 1 },
          headers: { authorization: `Bearer ${ann.token}`, 'idempotency-key': randomUUID() },
        }),
      ),
      ['on'],
      'a receipt must not be lost',
    );
  },
);

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

t.test('a key whose claim found the queue clear can be used again', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'ann');
  const headers = { authorization: `Bearer ${ann.token}`, 'idempotency-key': randomUUID() };
  const claim = () =>
    service.call('POST', '/api/moderation/claims', { body: { count: 1 }, headers });
  t.same((await claim()).body.claims, []);
  const { id } = await submit(service);
  const claimed = await claim();
  t.match(claimed.body.claims, [{ note_id: id }]);
  t.equal(claimed.headers.get('idempotency-replayed'), null);
  const replayed = await claim();
  t.equal(replayed.headers.get('idempotency-replayed'), 'true');
  t.equal(replayed.text, claimed.text);
});
