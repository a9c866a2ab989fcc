import type pg from 'pg';
import { untilVisibleEverywhere } from '../../platform/eventstore/subscription.ts';
import { firstUsed, refuseOthers } from '../../platform/keys/key-checks.ts';
import { keyRing, type Verifier } from '../../platform/keys/key-ring.ts';
import type { ServerKey } from '../../platform/keys/server-keys.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { requireSettings } from '../../platform/postgres/database-settings.ts';
import { readEngine } from '../../platform/postgres/engine.ts';
import { appliedMigrations, requireReleased } from '../../platform/postgres/migrate.ts';
import { withLocks } from '../../platform/postgres/table-locks.ts';
import { RELEASE } from '../../platform/version.ts';
import { catalogue } from '../../services/features.ts';
import { OWNED_TABLES } from '../../services/partitions.ts';
import { clientConfigOf, copyOut } from './copy.ts';
import {
  createFolder,
  FORMAT,
  KEYS_FILE,
  type Manifest,
  openBackup,
  writeBytes,
  writeManifest,
  writeRows,
} from './folder.ts';
import { sealKeys } from './sealed-keys.ts';
import { createRowSeal } from './sealed-rows.ts';
import { fileOf, findTables, requireSameTables } from './tables.ts';

const HEAD = `SELECT current_setting('server_version') AS postgres, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS taken_at,
  (SELECT max(epoch) FROM log_epochs) AS epoch,
  (SELECT coalesce(max(position), 0) FROM events) AS position,
  (SELECT last_value FROM events_position_seq) AS last_position`;

export interface Taken {
  manifest: Manifest;
  events: number;
  /** Tables in `public` that no migration made, and that the backup leaves out. */
  others: string[];
  /** Types that this release does not know, each with the position of its first event. */
  unknown: { type: string; position: string }[];
}

const UNKNOWN = `SELECT type, min(position)::text AS position FROM events
  WHERE type <> ALL($1) GROUP BY type ORDER BY min(position)`;

/**
 * Backs up a database into a new folder, as of one snapshot, while the service runs: every table as
 * COPY writes it, compressed and encrypted; the server keys, sealed; and a manifest. Then reads the manifest back as a
 * restore does, and throws if it would be refused.
 */
export async function createBackup(
  url: string,
  folder: string,
  keys: readonly ServerKey[],
  passphrase: string,
): Promise<Taken> {
  return withConnection(clientConfigOf(url, 'service backup'), async (client) => {
    const ask = (text: string) => client.query(text);
    await requireSettings(client);
    await requireReleased(ask);
    refuseOthers(keyRing(keys), (await client.query<Verifier>(firstUsed())).rows);
    const { tables: found, others } = await findTables(client);
    createFolder(folder);
    await beginSnapshot(client, url);
    const migrations = (await appliedMigrations(ask)).map(({ name, checksum }) => ({
      name,
      checksum,
    }));
    const [head] = (await client.query(HEAD)).rows;
    const rows = createRowSeal(passphrase);
    const files: Manifest['files'] = {};
    const tables: Manifest['tables'] = [];
    for (const { name, columns } of found) {
      const file = fileOf(name);
      const list = columns.join(', ');
      const { rows: counted } = await client.query(`SELECT count(*) AS rows FROM ${name}`);
      files[file] = await writeRows(
        folder,
        file,
        copyOut(client, `COPY (SELECT ${list} FROM ${name}) TO STDOUT`),
        rows,
      );
      tables.push({ name, columns, rows: Number(counted[0].rows), file });
    }
    const { rows: unknown } = await client.query<Taken['unknown'][number]>(UNKNOWN, [
      catalogue.names,
    ]);
    await client.query('COMMIT');
    files[KEYS_FILE] = writeBytes(
      folder,
      KEYS_FILE,
      sealKeys(keys, passphrase, Buffer.from(rows.salt, 'hex')),
    );
    const manifest: Manifest = {
      format: FORMAT,
      salt: rows.salt,
      release: RELEASE,
      migrations,
      postgres: head.postgres,
      taken_at: head.taken_at,
      epoch: Number(head.epoch),
      position: Number(head.position),
      last_position: Number(head.last_position),
      tables,
      files,
    };
    writeManifest(folder, manifest, passphrase);
    requireSameTables(openBackup(folder, passphrase).manifest.tables, found);
    const events = tables.find(({ name }) => name === 'events')?.rows ?? 0;
    return { manifest, events, others, unknown };
  });
}

const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Begins the transaction that reads everything. On a cluster each node takes its snapshot at its first read, so writers wait
 * meanwhile, for milliseconds; and one connection to each node does all reads.
 */
async function beginSnapshot(client: pg.Client, url: string): Promise<void> {
  const { distributed } = await readEngine(client);
  if (!distributed) {
    await client.query(BEGIN_SNAPSHOT);
    return;
  }
  await client.query('SET citus.max_adaptive_executor_pool_size = 1');
  const tables = Object.keys(OWNED_TABLES).join(', ');
  await withConnection(clientConfigOf(url, 'service backup gate'), (gate) =>
    withLocks(
      gate,
      client,
      [`LOCK TABLE ${tables} IN SHARE MODE`],
      async () => {
        await untilVisibleEverywhere(gate);
        await client.query(BEGIN_SNAPSHOT);
        await client.query('SELECT max(position) FROM events');
      },
      { tell: () => undefined },
    ),
  ).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== '42501') throw error;
    throw new Error(
      'A backup of a cluster locks the log until each node has its snapshot, which only the owner of the tables may do',
      { cause: error },
    );
  });
}
