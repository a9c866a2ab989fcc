import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { formsOf, tracesInTables } from '../test/harness/traces.ts';

/** Where a sample of the secrets stands that should stand nowhere: tables, log, WAL. */
export async function leaks(
  pool: pg.Pool,
  secrets: readonly string[],
  files: { log: string; wal: string },
): Promise<string[]> {
  const sample = secrets.filter((_, index) => index % Math.ceil(secrets.length / 24) === 0);
  const found = await tracesInTables(pool, sample);
  const forms = [...new Set(sample.flatMap(formsOf))];
  const wal = readdirSync(files.wal, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(files.wal, name));
  for (const file of [files.log, ...wal]) {
    const text = readFileSync(file).toString('latin1');
    if (forms.some((form) => text.includes(form))) found.push(file);
  }
  return found.map((place) => `a secret stands in ${place.slice(0, 120)}`);
}
