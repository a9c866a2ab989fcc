import { deepEqual } from 'node:assert/strict';
import type pg from 'pg';
import { rebuild } from '../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../projections/registry.ts';

/** Reads every row of every projection's table, sorted by its JSON text. */
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

/** Rebuilds all read models from the log and throws if a row changes; skips an empty log. */
export async function assertRebuilt({ url, pool }: { url: string; pool: pg.Pool }): Promise<void> {
  const { rows } = await pool.query('SELECT FROM events LIMIT 1');
  if (rows.length === 0) return;
  const before = await readModels(pool);
  await rebuild(url, catalogue, projections);
  deepEqual(before, await readModels(pool));
}
