import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { readMigrations } from '../../platform/postgres/migrate.ts';

/** A folder with the first `count` migrations of this release. */
export function firstMigrations(
  t: { teardown(end: () => Promise<void>): unknown },
  count: number,
): string {
  const { path, remove } = temporaryFolder('migrations');
  t.teardown(async () => remove());
  for (const { name, sql } of readMigrations().slice(0, count))
    writeFileSync(join(path, `${name}.sql`), sql);
  return path;
}
