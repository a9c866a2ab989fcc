import type pg from 'pg';
import { projections } from '../../projections/registry.ts';

/** Every row of every read model, to compare it with its rebuild. */
export async function readModels(pool: pg.Pool): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const table of projections.flatMap((projection) => projection.tables)) {
    const { rows } = await pool.query(
      `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`,
    );
    tables[table] = rows.map(({ row }) => row);
  }
  return tables;
}
