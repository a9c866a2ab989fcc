import type pg from 'pg';
import type { Texts } from '../erasable-texts.ts';
import {
  compareRows,
  type Difference,
  givenKeys,
  type Key,
  type KeyColumn,
  sameKey,
  tableKeys,
} from './compare-tables.ts';
import { UNLOGGED_COLUMNS } from './rebuilt-tables.ts';

/** A served table whose rows can be replaced. */
export interface MendedTable {
  table: string;
  key: readonly KeyColumn[];
  /** The columns that are not generated, and that the log has. */
  columns: readonly string[];
  /** The unique indexes beside the primary key: their expressions, and the rows that they have. */
  unique: readonly { expressions: readonly string[]; condition: string | null }[];
  texts: readonly Texts[];
}

/** What became of the rows of a table. */
export interface Replaced {
  mended: Difference[];
  /** Rows with words of an account whose erasure has not ended, and those whose unique values such a row has. */
  left: Difference[];
}

/** Reads how the tables are made. */
export async function mendedTables(
  client: pg.Client,
  texts: readonly Texts[],
): Promise<Map<string, MendedTable>> {
  const keys = await tableKeys(client);
  const { rows } = await client.query<Pick<MendedTable, 'table' | 'columns' | 'unique'>>(
    `SELECT relname AS table,
       (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
       (SELECT coalesce(json_agg(json_build_object(
            'condition', pg_get_expr(indpred, indrelid),
            'expressions', (SELECT json_agg(pg_get_indexdef(indexrelid, part, true))
              FROM generate_series(1, indnkeyatts) part))), '[]')
          FROM pg_index WHERE indrelid = c.oid AND indisunique AND NOT indisprimary) AS unique
     FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1)`,
    [[...keys.keys()]],
  );
  return new Map(
    rows.map((row) => [
      row.table,
      {
        ...row,
        columns: row.columns.filter((name) => !UNLOGGED_COLUMNS[row.table]?.includes(name)),
        key: keys.get(row.table) ?? [],
        texts: texts.filter(({ table }) => table === row.table),
      },
    ]),
  );
}

const text = (key: Key): string => JSON.stringify(Object.entries(key).sort());

/**
 * Compares the rows of some keys again, and replaces those that still differ by the temporary ones, in the
 * current transaction, which must keep other writers out. A row that has the unique value of a replaced row
 * differs as well, so it is replaced with it, if it was found or not.
 */
export async function replaceRows(
  client: pg.Client,
  table: MendedTable,
  keys: readonly Key[],
): Promise<Replaced> {
  const chosen = new Map(keys.map((key) => [text(key), key]));
  const blocked = new Set<string>();
  for (;;) {
    const found = await compareRows(client, table.table, table.key, table.texts, [
      ...chosen.values(),
    ]);
    const isLeft = ({ ending, key }: Difference) => ending || blocked.has(text(key));
    const mended = found.filter((difference) => !isLeft(difference));
    const replaced = new Set(mended.map(({ key }) => text(key)));
    const before = chosen.size + blocked.size;
    for (const { made, served } of await conflicts(client, table, mended)) {
      if (replaced.has(text(served))) continue;
      if (chosen.has(text(served))) blocked.add(text(made));
      else chosen.set(text(served), served);
    }
    if (chosen.size + blocked.size > before) continue;
    await write(client, table, mended);
    return { mended, left: found.filter(isLeft) };
  }
}

/** The served rows with other keys that have a unique value of these rows, as the log says that they are. */
async function conflicts(
  client: pg.Client,
  { table, key, unique }: MendedTable,
  differences: readonly Difference[],
): Promise<{ made: Key; served: Key }[]> {
  const keyOf = (row: string) =>
    `jsonb_build_object(${key.map(({ name }) => `'${name}', ${row}.${name}::text`).join(', ')})`;
  const found: { made: Key; served: Key }[] = [];
  for (const { expressions, condition } of unique) {
    const rowsIn = (schema: string) => {
      const values = expressions.map((expression, at) => `${expression} AS value_${at}`);
      return `(SELECT *, ${values.join(', ')} FROM ${schema}.${table} WHERE ${condition ?? 'true'})`;
    };
    const same = expressions.map((_, at) => `served.value_${at} = made.value_${at}`);
    const { rows } = await client.query<{ made: Key; served: Key }>(
      `SELECT ${keyOf('made')} AS made, ${keyOf('served')} AS served
       FROM ${givenKeys(key)} JOIN ${rowsIn('pg_temp')} made ON ${sameKey(key, 'made', 'given')}
         JOIN ${rowsIn('public')} served ON ${same.join(' AND ')}
       WHERE NOT (${sameKey(key, 'made', 'served')})`,
      [json(differences)],
    );
    found.push(...rows);
  }
  return found;
}

const json = (differences: readonly Difference[]): string =>
  JSON.stringify(differences.map(({ key }) => key));

async function write(
  client: pg.Client,
  { table, key, columns, unique }: MendedTable,
  mended: readonly Difference[],
): Promise<void> {
  const given = givenKeys(key);
  const of = (...kinds: Difference['kind'][]) => mended.filter(({ kind }) => kinds.includes(kind));
  const run = async (sql: string, rows: readonly Difference[]) => {
    if (rows.length === 0) return;
    const { rowCount } = await client.query(sql, [json(rows)]);
    if (rowCount !== rows.length)
      throw new Error(`${rowCount} of ${rows.length} rows of ${table} were replaced`);
  };
  // In place, because commands may wait for the lock of a row. Unique values are exchanged by rows that are gone.
  const [updated, inserted]: Difference['kind'][][] =
    unique.length === 0 ? [['changed'], ['missing']] : [[], ['missing', 'changed']];
  await run(
    `DELETE FROM public.${table} served USING ${given} WHERE ${sameKey(key, 'served', 'given')}`,
    of('surplus', ...(unique.length === 0 ? [] : ['changed' as const])),
  );
  await run(
    `UPDATE public.${table} served SET ${columns.map((name) => `${name} = made.${name}`).join(', ')}
     FROM ${given} JOIN pg_temp.${table} made ON ${sameKey(key, 'made', 'given')}
     WHERE ${sameKey(key, 'served', 'given')}`,
    of(...(updated ?? [])),
  );
  const names = columns.join(', ');
  await run(
    `INSERT INTO public.${table} (${names}) SELECT ${columns.map((name) => `made.${name}`).join(', ')}
     FROM ${given} JOIN pg_temp.${table} made ON ${sameKey(key, 'made', 'given')}`,
    of(...(inserted ?? [])),
  );
}
