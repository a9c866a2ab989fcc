import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { publishArtifact } from '../../harness/records.ts';
import type { Difference } from '../../projections/rebuild/compare-tables.ts';
import { mendReadModels } from '../../projections/rebuild/mend.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { corruptRows, describeRow, rememberRows } from '../support/corrupted-rows.ts';
import { fillHistory, PLENTY_LIMITS, startLoad } from '../support/proven-service.ts';
import { rowsOf } from '../support/served-rows.ts';
import { type Service, startService } from '../support/service.ts';

async function mend(service: Service) {
  const mended: Difference[] = [];
  const left: Difference[] = [];
  const result = await mendReadModels(service.database.url, catalogue, projections, {
    mended: (difference) => void mended.push(difference),
    left: (difference) => void left.push(difference),
  });
  return { ...result, rows: mended, left };
}

const describe = ({ table, key }: Difference) => describeRow(table, key);

interface MendedEvent {
  stream_version: number;
  actor: unknown;
  data: {
    tables: (Record<'changed' | 'missing' | 'surplus', number> & {
      table: string;
      keys: Record<string, string>[];
    })[];
  };
}

async function eventsOf({ database }: Service): Promise<MendedEvent[]> {
  const { rows } = await database.pool.query<MendedEvent>(
    "SELECT stream_version, actor, data FROM events WHERE type = 'ReadModelsMended' ORDER BY position",
  );
  return rows;
}

t.test('mends each of 1,000 rows that were changed under load, and touches no other', async (t) => {
  const service = await startService(t, PLENTY_LIMITS);
  await fillHistory(service, 150);
  const before = await rowsOf(service.database.pool);
  await rememberRows(service.database.pool);
  const stop = await startLoad(service);
  await service.tamper('SELECT');
  const corrupted = await corruptRows(service.database.pool, 1000);
  const { mended, rows, left, proof } = await mend(service);
  const rounds = await stop();
  t.comment(`${rounds} rounds of load, ${proof.events} events`);
  t.equal(mended, 1000);
  t.same(left, []);
  t.same(new Set(rows.map(describe)), corrupted, 'each was found, and nothing else');
  t.equal(proof.divergent, 0, 'the last comparison found nothing');
  t.ok(Math.min(...rounds) > 0, 'the load went on');

  const after = await rowsOf(service.database.pool);
  let same = 0;
  for (const [key, row] of before) {
    // The load registers members, which this row counts.
    if (key.startsWith('membership_totals')) continue;
    const now = after.get(key);
    if (now?.row !== row.row) t.fail(`${key} is as before`);
    if (corrupted.has(key)) continue;
    if (now?.xmin !== row.xmin) t.fail(`${key} was not written`);
    same++;
  }
  t.ok(same > 1000, `${same} other rows`);
  for (const key of corrupted) if (!before.has(key) && after.has(key)) t.fail(`${key} is gone`);

  const events = await eventsOf(service);
  t.same(
    events.map(({ stream_version: version }) => version),
    events.map((_, at) => at + 1),
  );
  t.same(events[0]?.actor, { type: 'operator' });
  const tables = events.flatMap(({ data }) => data.tables);
  const counted = tables.map(({ changed, missing, surplus }) => changed + missing + surplus);
  t.equal(
    counted.reduce((sum, count) => sum + count, 0),
    1000,
  );
  t.notOk(
    tables.some(({ keys }) => keys.some((key) => 'hash' in key)),
    'the log keeps no hash',
  );

  t.equal((await mend(service)).mended, 0, 'nothing is left to mend');
  t.equal((await eventsOf(service)).length, events.length);
  const content = async () =>
    [...(await rowsOf(service.database.pool))].map(([key, { row }]) => `${key} ${row}`).sort();
  const mendedContent = await content();
  await rebuild(service.database.url, catalogue, projections);
  t.same(await content(), mendedContent, 'a rebuild changes nothing');
});

t.test('mends unique values that rows have exchanged, and one that another row has', async (t) => {
  const service = await startService(t, PLENTY_LIMITS);
  const agents = [];
  for (let at = 0; at < 5; at++) agents.push(await newAgent(service));
  const before = await rowsOf(service.database.pool);
  const [one, two, three, four, five] = agents.map(({ id }) => id);
  await service.tamper("UPDATE members SET handle = handle || '-' WHERE member_id = ANY($1)", [
    [one, two, three],
  ]);
  const names = agents.map(({ handle }) => handle);
  const rename = (handle: string | undefined, id: string | undefined) =>
    service.tamper('UPDATE members SET handle = $1 WHERE member_id = $2', [handle, id]);
  // Three handles in a circle, and the handle of a missing row on another row.
  await rename(names[1], one);
  await rename(names[2], two);
  await rename(names[0], three);
  await service.tamper('DELETE FROM members WHERE member_id = $1', [four]);
  await rename(names[3], five);
  const { mended, proof } = await mend(service);
  t.equal(mended, 5);
  t.equal(proof.divergent, 0);
  const after = await rowsOf(service.database.pool);
  for (const [key, { row }] of before) t.equal(after.get(key)?.row, row, key);
});

t.test(
  'mends handles that more members have exchanged than one transaction replaces',
  async (t) => {
    const service = await startService(t, PLENTY_LIMITS);
    await fillHistory(service, 230);
    const before = await rowsOf(service.database.pool);
    await service.tamper(`CREATE TABLE ring AS SELECT member_id,
    coalesce(lead(handle) OVER turns, first_value(handle) OVER turns) AS handle
    FROM members WHERE handle IS NOT NULL WINDOW turns AS (ORDER BY handle)`);
    await service.tamper('UPDATE members SET handle = member_id::text WHERE handle IS NOT NULL');
    const { rowCount } = await service.database.pool.query(
      'UPDATE members m SET handle = ring.handle FROM ring WHERE m.member_id = ring.member_id',
    );
    const { mended, proof } = await mend(service);
    t.ok(mended > 200, `${mended} rows`);
    t.equal(mended, rowCount);
    t.equal(proof.divergent, 0);
    t.equal((await eventsOf(service)).length, 1, 'in one transaction');
    const after = await rowsOf(service.database.pool);
    t.same(
      [...before].filter(([key, { row }]) => after.get(key)?.row !== row),
      [],
    );
  },
);

t.test('leaves the words of an account whose deletion has not ended', async (t) => {
  const service = await startService(t);
  const leaving = await newAgent(service);
  const staying = await newAgent(service);
  const { id } = await publishArtifact(leaving, 'zanzibar');
  const other = await publishArtifact(staying, 'zanzibar');
  const deletion = { confirm_handle: leaving.handle };
  t.equal((await leaving.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  await service.tamper('UPDATE artifacts SET version = version + 1');
  const { mended, left, proof } = await mend(service);
  t.equal(mended, 1);
  t.match(left, [{ table: 'artifacts', key: { artifact_id: id }, ending: true }]);
  t.equal(left.length, 1);
  t.equal(proof.divergent, 1);
  const [event] = await eventsOf(service);
  t.match(event?.data.tables, [{ changed: 1, keys: [{ artifact_id: other.id }] }]);
});
