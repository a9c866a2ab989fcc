import type pg from 'pg';
import { tableKeys } from '../../projections/rebuild/compare-tables.ts';
import { projections } from '../../services/features.ts';
import { describeRow } from './corrupted-rows.ts';

export interface ServedRow {
  /** The transaction that wrote the row. */
  xmin: string;
  row: string;
}

/** Every row of every read model, by `describeRow`. */
export async function rowsOf(pool: pg.Pool): Promise<Map<string, ServedRow>> {
  const found = new Map<string, ServedRow>();
  const client = await pool.connect();
  try {
    const keys = await tableKeys(client as unknown as pg.Client);
    for (const table of projections.flatMap((projection) => projection.tables)) {
      const named = keys.get(table)?.map(({ name }) => `'${name}', ${name}::text`);
      const { rows } = await client.query<ServedRow & { key: Record<string, string> }>(
        `SELECT jsonb_build_object(${named?.join(', ')}) AS key, one.xmin::text, one::text AS row
         FROM ${table} one`,
      );
      for (const { key, xmin, row } of rows) found.set(describeRow(table, key), { xmin, row });
    }
  } finally {
    client.release();
  }
  return found;
}
