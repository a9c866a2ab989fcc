import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { readModels } from '../harness/rebuilt.ts';
import { rebuild } from '../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../services/features.ts';

/** Rebuilds all read models and describes those that change, each with an example row. */
export async function differFromRebuild(url: string, pool: pg.Pool): Promise<string[]> {
  const before = await readModels(pool);
  await rebuild(url, catalogue, projections);
  const after = await readModels(pool);
  return differences(before, after);
}

type Tables = Readonly<Record<string, readonly unknown[]>>;

export function differences(before: Tables, after: Tables): string[] {
  return Object.entries(before).flatMap(([table, rows]) => {
    const rebuilt = after[table] ?? [];
    if (isDeepStrictEqual(rows, rebuilt)) return [];
    const known = new Set(rebuilt.map((row) => JSON.stringify(row)));
    const had = rows.filter((row) => !known.has(JSON.stringify(row)));
    const example = JSON.stringify(had[0])?.slice(0, 300);
    return [`${table}: ${had.length} rows are not in its rebuild, such as ${example}`];
  });
}
