import t from 'tap';
import { isLapsed, lapsedSql, stateAsRead, stateAsReadSql } from '../../domain/cases/lease.ts';
import { testDatabase } from '../support/database.ts';

interface Row {
  state: string;
  version: number;
  updated_at: Date;
  lease_expires_at: Date | null;
  now: Date;
  lapsed: boolean;
  read_state: string;
  read_version: number;
  read_updated_at: Date;
}

t.test('a lapsed lease reads the same in programs and in statements', async (t) => {
  const { pool } = await testDatabase(t);
  const read = stateAsReadSql('c');
  const { rows } = await pool.query<Row>(`
    WITH c AS (SELECT state, 3 AS version, now() - interval '1 hour' AS updated_at,
        date_trunc('milliseconds', now()) + make_interval(secs => seconds) AS lease_expires_at
      FROM unnest(ARRAY['open', 'claimed', 'submitted', 'accepted', 'withdrawn']) AS state,
        unnest(ARRAY[NULL, -1, 0, 1]) AS seconds)
    SELECT c.*, now(), coalesce(${lapsedSql('c')}, false) AS lapsed, ${read.state} AS read_state,
      ${read.version} AS read_version, ${read.updated_at} AS read_updated_at
    FROM c`);
  t.equal(rows.length, 20);
  t.equal(rows.filter(({ lapsed }) => lapsed).length, 2, 'claimed, and over before or just now');
  for (const row of rows) {
    const what = `${row.state}, ${row.lease_expires_at?.toISOString()}`;
    t.equal(isLapsed(row.state, row.lease_expires_at, row.now), row.lapsed, what);
    const { read_state: state, read_version: version, read_updated_at: updated_at } = row;
    t.same(stateAsRead(row), { state, version, updated_at }, what);
  }
});
