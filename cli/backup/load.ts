import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { withConnection } from '../../platform/postgres/connection.ts';
import { requireSettings } from '../../platform/postgres/database-settings.ts';
import {
  migrate,
  RESTORE_MARK,
  readMigrations,
  requireFinishedRestore,
} from '../../platform/postgres/migrate.ts';
import { RELEASE } from '../../platform/version.ts';
import { clientConfigOf, copyIn } from './copy.ts';
import { type CheckedBackup, damaged, hashing, type Manifest } from './folder.ts';
import { fileOf, requireSameTables, tablesOf } from './tables.ts';

/** Tables of extensions do not count. */
const IS_EMPTY = `SELECT NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE relkind IN ('r', 'p') AND nspname !~ '^pg_' AND nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_depend
      WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')) AS empty`;

/**
 * Makes the schema in an empty database and loads a backup into it, in one transaction, at
 * the end of which it calls `within`. The manifest must have been checked. Throws if a file is not the one that
 * the manifest names, even if it was exchanged a moment ago. If it is killed, everything refuses the database,
 * which would look like a service that is empty.
 */
export async function loadBackup<Result>(
  url: string,
  folder: string,
  { manifest, rows }: Pick<CheckedBackup, 'manifest' | 'rows'>,
  within: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  return withConnection(clientConfigOf(url, 'service restore'), async (client) => {
    requireSameRelease(manifest);
    await requireFinishedRestore((text) => client.query(text));
    const { rows: found } = await client.query<{ empty: boolean }>(IS_EMPTY);
    if (!found[0]?.empty) throw new Error('The database is not empty: restore into a new one');
    await requireSettings(client);
    await client.query(
      `CREATE TABLE ${RESTORE_MARK} (started_at timestamptz NOT NULL DEFAULT now())`,
    );
    await migrate(url, { restoring: true });
    requireSameTables(manifest.tables, await tablesOf(client));
    await client.query('BEGIN');
    for (const { name, columns } of manifest.tables) {
      // A new schema has its first rows, which the backup has as well.
      if (name !== 'events') await client.query(`DELETE FROM ${name}`);
      const file = fileOf(name);
      const hash = createHash('sha256');
      const source = createGunzip();
      pipeline(
        createReadStream(join(folder, file)),
        hashing(hash),
        rows.open(file, damaged(file)),
        source,
        () => undefined,
      );
      await copyIn(client, `COPY ${name} (${columns.join(', ')}) FROM STDIN`, source);
      if (hash.digest('hex') !== manifest.files[file]) throw damaged(file);
    }
    await client.query(`SELECT setval('events_position_seq', $1)`, [manifest.last_position]);
    const result = await within(client);
    await client.query(`DROP TABLE ${RESTORE_MARK}`);
    await client.query('COMMIT');
    await client.query('ANALYZE');
    return result;
  });
}

/** Throws if the backup has other migrations than this release, which then cannot restore it. */
export function requireSameRelease({ release, migrations }: Manifest): void {
  if (!isSame(readMigrations(), migrations))
    throw new Error(
      `The backup was made by release ${release}, which has other tables than this one (${RELEASE}): restore it with that release`,
    );
}

function isSame(
  applied: readonly { name: string; checksum: string }[],
  made: Manifest['migrations'],
): boolean {
  const listOf = (all: Manifest['migrations']) => all.map((one) => `${one.name} ${one.checksum}`);
  return listOf([...applied]).join() === listOf(made).join();
}
