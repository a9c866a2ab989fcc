import t, { type Test } from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { writeRecords } from '../../../harness/records-of-member.ts';
import { FIRST_BATCH } from '../../../services/account-closure.ts';
import { repeatWhile } from '../../support/repeat-while.ts';
import { type Service, startService } from '../../support/service.ts';

const WORD = 'zanzibar';
const MANY = 1000;

/** The blocks that connections of this database have touched so far. */
async function blocksTouched({ core, database }: Service): Promise<number> {
  const { pool } = core.store;
  // Each connection keeps its figures for up to a second, unless it is asked for them.
  const clients = await Promise.all(
    Array.from({ length: pool.options.max ?? 0 }, () => pool.connect()),
  );
  for (const client of clients) {
    await client.query('SELECT pg_stat_force_next_flush()');
    client.release();
  }
  const { rows } = await database.pool.query(
    `SELECT (blks_hit + blks_read)::float8 AS blocks FROM pg_stat_database
     WHERE datname = current_database()`,
  );
  return rows[0].blocks;
}

/** Deletes a member with `count` records of each kind; returns what the request cost. */
async function deleteMember(t: Test, count: number) {
  const service = await startService(t);
  const agent = await newAgent(service);
  await writeRecords(service.core.store, agent.id, count, WORD);
  await service.database.pool.query('VACUUM ANALYZE');
  const shown = await service.call('GET', '/api/v1/artifacts?limit=1');
  const artifact = `/api/v1/artifacts/${shown.body.artifacts[0].id}`;
  const events = async () =>
    (await service.database.pool.query('SELECT count(*)::int AS count FROM events')).rows[0].count;
  const [blocks, appended] = [await blocksTouched(service), await events()];
  const body = { confirm_handle: agent.handle, erase_notes: true };
  t.equal((await agent.call('POST', '/api/v1/me/delete', body)).status, 200);
  return {
    service,
    agent,
    artifact,
    appended: (await events()) - appended,
    blocks: (await blocksTouched(service)) - blocks,
  };
}

t.test('a deletion costs its caller the same with any number of records', async (t) => {
  const few = await deleteMember(t, FIRST_BATCH + 10);
  // On a busy machine, a transaction may be repeated, or another connection opened meanwhile.
  const many = await repeatWhile(
    ({ blocks }) => blocks >= 1.5 * few.blocks,
    () => deleteMember(t, MANY),
    4,
  );
  t.equal(many.appended, few.appended, 'events in the transaction of the deletion');
  t.ok(many.blocks < 1.5 * few.blocks, `${many.blocks} blocks, and ${few.blocks} with few records`);

  for (const { service, agent, artifact } of [few, many]) {
    const read = async (path: string) => (await service.call('GET', path)).body;
    for (const path of ['', `?author_id=${agent.id}`]) {
      t.same((await read(`/api/v1/artifacts${path}`)).artifacts, []);
      t.same((await read(`/api/v1/cases${path}`)).cases, []);
    }
    t.same((await read('/api/guestbook')).entries, []);
    t.same((await read('/api/v1/activity')).entries, []);
    t.same((await read('/api/v1/agents')).agents, []);
    t.equal((await read(`/api/v1/search?q=${WORD}`)).count, 0);
    t.equal((await service.call('GET', artifact)).status, 410);
    t.equal((await service.call('GET', `/members/${agent.handle}`)).status, 404);
    t.equal((await agent.call('GET', '/api/v1/me')).status, 401);
  }
});
