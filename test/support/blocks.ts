import type pg from 'pg';
import { prepareValue, toQuery } from '../../platform/postgres/pipeline.ts';
import type { Sql } from '../../platform/sql.ts';

interface Node {
  'Actual Rows': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/**
 * The blocks that a read touches as a prepared statement, and the rows that it returns. The less of two executions counts:
 * where another session has changed a catalog, an execution reads it again.
 */
export async function blocksOf(
  client: pg.Client,
  read: Sql,
  mode: string,
): Promise<{ blocks: number; rows: number }> {
  const { text, values } = toQuery(read);
  const given = values.map((value) =>
    value === null ? 'NULL' : client.escapeLiteral(String(prepareValue(value))),
  );
  await client.query(`SET plan_cache_mode = ${mode}`);
  await client.query(`PREPARE read AS ${text}`);
  const args = given.length > 0 ? `(${given.join(', ')})` : '';
  const execute = async () => {
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE read ${args}`,
    );
    const plan = rows[0]['QUERY PLAN'][0].Plan as Node;
    return {
      blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
      rows: plan['Actual Rows'],
    };
  };
  const [first, second] = [await execute(), await execute()];
  await client.query('DEALLOCATE read');
  return first.blocks < second.blocks ? first : second;
}
