import type pg from 'pg';
import type { Texts } from '../erasable-texts.ts';
import { isUnsplit, SPLIT_TABLES } from '../search/unsplit.ts';
import { UNLOGGED_COLUMNS } from './rebuilt-tables.ts';

/** Rows of a table that are named; the others are counted. */
const MAX_NAMED = 10_000;

/** The columns of a primary key, as text. */
export type Key = Record<string, string>;

/** A row that differs from the log. It has no value but those of the key: an id, a code or a hash. */
export interface Difference {
  table: string;
  key: Key;
  /** Whether the served row is missing, is not in the log, or has other values. */
  kind: 'missing' | 'surplus' | 'changed';
  /** The columns with other values. */
  columns: string[];
  /** Whether the row has texts of a member whose erasure has begun and not ended. */
  ending: boolean;
}

/** A column of a primary key. */
export interface KeyColumn {
  name: string;
  type: string;
}

export interface Comparison {
  table: string;
  /** Rows that the log says the table has. */
  rows: number;
  divergent: number;
  differences: Difference[];
}

/** The columns of the primary key of each table. */
export async function tableKeys(client: pg.Client): Promise<Map<string, readonly KeyColumn[]>> {
  const { rows } = await client.query<{ table: string; columns: KeyColumn[] }>(
    `SELECT relname AS table,
       json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod))
         ORDER BY turn) AS columns
     FROM pg_index JOIN pg_class c ON c.oid = indrelid, unnest(indkey) WITH ORDINALITY AS part (number, turn)
       JOIN LATERAL (SELECT attname, atttypid, atttypmod FROM pg_attribute
         WHERE attrelid = indrelid AND attnum = part.number) named ON true
     WHERE indisprimary AND relnamespace = 'public'::regnamespace GROUP BY relname`,
  );
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/** SQL: whether the keys of two rows are equal. */
export const sameKey = (key: readonly KeyColumn[], one: string, other: string): string =>
  key.map(({ name }) => `${one}.${name} = ${other}.${name}`).join(' AND ');

/** SQL: the keys that `$1` lists as JSON. */
export const givenKeys = (key: readonly KeyColumn[]): string =>
  `jsonb_to_recordset($1::jsonb) AS given (${key.map(({ name, type }) => `${name} ${type}`).join(', ')})`;

/** Members whose erasure has begun: log and read models lose their texts one after the other. */
const isBeingErased = (member: string): string =>
  `EXISTS (SELECT FROM pg_temp.members ending
    WHERE ending.member_id = ${member} AND ending.state = 'deactivated' AND ending.erased_at IS NULL)`;

/** SQL: whether the row has texts of such a member. */
const isEnding = (texts: readonly Texts[]): string =>
  texts
    .flatMap(({ member }) =>
      member ? isBeingErased(`coalesce(made.${member}, served.${member})`) : [],
    )
    .join(' OR ') || 'false';

const list = (columns: readonly string[]): string =>
  columns.map((column) => `'${column}'`).join(', ');

/** SQL: the columns that are not compared of a row, which is `served` in `public` and `made` from the log. */
function columnsLeftOut(table: string, texts: readonly Texts[]): string {
  const parts = texts.flatMap(({ columns, member }) =>
    member
      ? `CASE WHEN ${isBeingErased(`made.${member}`)} THEN ARRAY[${list(columns)}] ELSE '{}' END`
      : [],
  );
  const unlogged = UNLOGGED_COLUMNS[table];
  if (unlogged) parts.push(`ARRAY[${list(unlogged)}]`);
  // Rows of an earlier release, which the job split-words completes.
  if ((SPLIT_TABLES as string[]).includes(table))
    parts.push(
      `CASE WHEN (SELECT ${isUnsplit(table)} FROM (SELECT served.*) row) THEN ARRAY['words'] ELSE '{}' END`,
    );
  return parts.length > 0 ? parts.map((part) => `(${part})::text[]`).join(' || ') : `'{}'::text[]`;
}

/** SQL: the columns of `served` and `made` that differ. */
const changedColumns = (table: string, texts: readonly Texts[]): string =>
  `(SELECT coalesce(array_agg(key ORDER BY key), '{}') FROM jsonb_each(to_jsonb(served)) one
      JOIN jsonb_each(to_jsonb(made)) other USING (key)
      WHERE one.value IS DISTINCT FROM other.value AND key <> ALL (${columnsLeftOut(table, texts)}))`;

/** Selects the rows that differ: all, or those of `givenKeys`. */
function differingRows(
  table: string,
  key: readonly KeyColumn[],
  texts: readonly Texts[],
  given = false,
): string {
  const [first] = key;
  if (!first) throw new Error(`The table ${table} has no primary key`);
  const named = key.map(({ name }) => `'${name}', coalesce(served.${name}, made.${name})::text`);
  const rowsIn = (schema: string) =>
    given
      ? `(SELECT one.* FROM ${givenKeys(key)} JOIN ${schema}.${table} one
           ON ${sameKey(key, 'one', 'given')})`
      : `${schema}.${table}`;
  return `SELECT * FROM (
       SELECT jsonb_build_object(${named.join(', ')}) AS key,
         CASE WHEN served.${first.name} IS NULL THEN 'missing'
           WHEN made.${first.name} IS NULL THEN 'surplus' ELSE 'changed' END AS kind,
         CASE WHEN served.${first.name} IS NOT NULL AND made.${first.name} IS NOT NULL
           THEN ${changedColumns(table, texts)} ELSE '{}' END AS columns,
         ${isEnding(texts)} AS ending
       FROM ${rowsIn('public')} served FULL JOIN ${rowsIn('pg_temp')} made
         ON ${sameKey(key, 'served', 'made')}
       WHERE served.${first.name} IS NULL OR made.${first.name} IS NULL OR served *<> made
     ) differing WHERE kind <> 'changed' OR columns <> '{}'`;
}

/**
 * Compares a served table with its temporary one, in the current transaction. Rows that are equal byte by byte
 * are left out first; the others are compared column by column.
 */
export async function compareTable(
  client: pg.Client,
  table: string,
  key: readonly KeyColumn[],
  texts: readonly Texts[],
): Promise<Comparison> {
  const { rows } = await client.query<Omit<Difference, 'table'> & { total: number }>(
    `SELECT count(*) OVER ()::int AS total, differing.*
     FROM (${differingRows(table, key, texts)}) differing LIMIT ${MAX_NAMED}`,
  );
  const counted = await client.query<{ rows: number }>(
    `SELECT count(*)::int AS rows FROM pg_temp.${table}`,
  );
  return {
    table,
    rows: counted.rows[0]?.rows ?? 0,
    divergent: rows[0]?.total ?? 0,
    differences: rows.map(({ total, ...row }) => ({ table, ...row })),
  };
}

/** Compares the rows of some keys in the same way. */
export async function compareRows(
  client: pg.Client,
  table: string,
  key: readonly KeyColumn[],
  texts: readonly Texts[],
  keys: readonly Key[],
): Promise<Difference[]> {
  const { rows } = await client.query<Omit<Difference, 'table'>>(
    differingRows(table, key, texts, true),
    [JSON.stringify(keys)],
  );
  return rows.map((row) => ({ table, ...row }));
}
