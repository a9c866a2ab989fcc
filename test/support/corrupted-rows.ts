import pg from 'pg';
import { projections } from '../../services/features.ts';

/** Rows that were changed, deleted or inserted by hand: `table {"key": …}`. */
export type Corrupted = Set<string>;

interface Column {
  name: string;
  type: string;
  key: boolean;
}

/** How a value of each type is changed; a column of another type is left as it is. */
const CHANGES: Readonly<Record<string, (column: string) => string>> = {
  'timestamp with time zone': (column) => `${column} + interval '1 second'`,
  integer: (column) => `${column} + 1`,
  bigint: (column) => `${column} + 1`,
};

export const describeRow = (table: string, key: Record<string, string>): string =>
  `${table} ${JSON.stringify(Object.fromEntries(Object.entries(key).sort()))}`;

/** The row that counts active members, without which no one can register. */
const LEFT_ALONE = ['membership_totals'];

/** Remembers the rows that there are, so that `corruptRows` touches no others. */
export async function rememberRows(pool: pg.Pool): Promise<void> {
  await pool.query('CREATE SCHEMA remembered');
  for (const table of projections.flatMap((projection) => projection.tables)) {
    const keys = (await columnsOf(pool, table)).filter(({ key }) => key);
    const names = keys.map(({ name }) => name).join(', ');
    await pool.query(`CREATE TABLE remembered.${table} AS SELECT ${names} FROM ${table}`);
  }
}

/**
 * Changes, deletes and inserts random rows of every read model that has some, `count` in all, behind the back of the
 * service. Only remembered rows are touched, each once.
 */
export async function corruptRows(pool: pg.Pool, count: number): Promise<Corrupted> {
  const corrupted: Corrupted = new Set();
  const filled: string[] = [];
  for (const table of projections.flatMap((projection) => projection.tables)) {
    const { rowCount } = await pool.query(`SELECT FROM remembered.${table} LIMIT 1`);
    if (rowCount && !LEFT_ALONE.includes(table)) filled.push(table);
  }
  for (let round = 0; corrupted.size < count && round < 100; round++)
    for (const table of filled) {
      const left = count - corrupted.size;
      if (left > 0)
        await corruptTable(pool, table, Math.min(left, Math.ceil(left / filled.length)), corrupted);
    }
  await pool.query('DROP SCHEMA remembered CASCADE');
  return corrupted;
}

async function columnsOf(pool: pg.Pool, table: string): Promise<Column[]> {
  const { rows } = await pool.query<Column>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type,
       attnum = ANY(i.indkey) AS key FROM pg_attribute a
     JOIN pg_index i ON i.indrelid = attrelid AND indisprimary
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     ORDER BY attnum`,
    [table],
  );
  return rows;
}

async function corruptTable(
  pool: pg.Pool,
  table: string,
  count: number,
  corrupted: Corrupted,
): Promise<void> {
  const columns = await columnsOf(pool, table);
  const keys = columns.filter(({ key }) => key).map(({ name }) => name);
  const key = `jsonb_build_object(${keys.map((name) => `'${name}', ${name}::text`).join(', ')})`;
  const changed = columns.find(({ key: isKey, type }) => !isKey && CHANGES[type]);
  const added = columns.find(({ key: isKey, type }) => isKey && type === 'uuid');
  const some = `SELECT t.ctid FROM ${table} t NATURAL JOIN remembered.${table} ORDER BY random() LIMIT 1`;
  const ways = [`DELETE FROM ${table} WHERE ctid = ANY(ARRAY(${some})) RETURNING ${key} AS key`];
  if (changed)
    ways.push(`UPDATE ${table} SET ${changed.name} = ${CHANGES[changed.type]?.(changed.name)}
      WHERE ctid = ANY(ARRAY(${some})) AND ${changed.name} IS NOT NULL RETURNING ${key} AS key`);
  if (added) {
    const names = columns.map(({ name }) => name).join(', ');
    const values = columns.map(({ name }) => (name === added.name ? 'gen_random_uuid()' : name));
    ways.push(`INSERT INTO ${table} (${names}) SELECT ${values.join(', ')} FROM ${table}
      WHERE ctid = ANY(ARRAY(${some})) ON CONFLICT DO NOTHING RETURNING ${key} AS key`);
  }
  for (let done = 0; done < count; done++) {
    const { rows } = await pool.query<{ key: Record<string, string> }>(
      ways[done % ways.length] as string,
    );
    for (const { key: values } of rows) {
      corrupted.add(describeRow(table, values));
      const chosen = keys.map((name) => `${name}::text = ${pg.escapeLiteral(values[name] ?? '')}`);
      await pool.query(`DELETE FROM remembered.${table} WHERE ${chosen.join(' AND ')}`);
    }
  }
}
