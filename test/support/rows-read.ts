import pg from 'pg';
import type { Sql } from '../../platform/sql.ts';

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

/**
 * The number of table rows that a statement reads, prepared as on a connection of the pool;
 * `types` are the SQL types of its values.
 */
export async function countRowsRead(
  client: pg.Client,
  { text, values }: Sql,
  types: readonly string[] = [],
): Promise<number> {
  const list = (names: readonly string[]) => (names.length > 0 ? `(${names.join(', ')})` : '');
  const parameters = list(values.map((value) => pg.escapeLiteral(String(value))));
  await client.query(`PREPARE counted ${list(types)} AS ${text}`);
  const { rows } = await client.query(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE counted ${parameters}`,
  );
  await client.query('DEALLOCATE counted');
  return readBy(rows[0]['QUERY PLAN'][0].Plan);
}

function readBy(plan: Plan): number {
  const passed =
    (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = plan['Relation Name'] ? (plan['Actual Rows'] + passed) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, one) => sum + readBy(one), own);
}
