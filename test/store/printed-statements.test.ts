import t from 'tap';
import { query } from '../../platform/postgres/query.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';
import { recordStatements, toPsql } from '../support/statements.ts';

t.test('prints a statement so that its text alone gives the same rows', async (t) => {
  const { pool } = await testDatabase(t);
  const statements = recordStatements(t);
  const at = new Date('2026-01-02T03:04:05.678Z');
  const [executed] = await query(
    pool,
    sql`SELECT ${"a 'quoted' \\ text"}::text AS text, ${null}::int AS nothing, ${['x', 'y,z']}::text[] AS list,
      ${Buffer.from('0aff', 'hex')}::bytea AS bytes, ${at}::timestamptz AS at, ${true}::boolean AS flag`,
  );
  const script = toPsql([...statements.values()].filter(({ text }) => /\bAS nothing\b/.test(text)));
  const results: unknown = await pool.query(script);
  const printed = (results as { rows: unknown[] }[]).flatMap(({ rows }) => rows);
  t.strictSame(printed, [executed]);
  t.match(script, /\/\* \$2 \*\/ NULL/, 'parameters have their names');
});
