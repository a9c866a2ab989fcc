import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import {
  describeLoss,
  type LostWords,
  lostWords,
} from '../../projections/moderation/lost-words.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { UNLOGGED_COLUMNS } from '../../projections/rebuild/rebuilt-tables.ts';
import { catalogue, projections } from '../../services/features.ts';
import { verifySeal } from '../../services/seal/verify-seal.ts';
import { clientConfigOf } from './copy.ts';
import { asPlainOwner } from './database.ts';
import type { CheckedBackup, Manifest } from './folder.ts';
import { loadBackup } from './load.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work` on the address of an empty PostgreSQL that exists for that time alone. A signal ends it too, and is thrown
 * as an error: the server is detached, and would outlive this process with all that was restored.
 */
export async function withScratchDatabase<Result>(
  work: (url: string) => Promise<Result>,
  bytesLeft = freeBytes,
): Promise<Result> {
  let interrupt: (error: Error) => void = () => undefined;
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = reject;
  });
  interrupted.catch(() => undefined);
  const end = (signal: NodeJS.Signals) => interrupt(new Error(`Ended by ${signal}`));
  for (const signal of SIGNALS) process.once(signal, end);
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'verify-'));
    // If root calls, PostgreSQL runs under another account, which must be able to enter.
    chmodSync(folder, 0o711);
    const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };
    const server = await embeddedPostgres({ dataDir: join(folder, 'data'), settings });
    try {
      return await Promise.race([interrupted, asPlainOwner(server.url, work)]);
    } finally {
      await server.stop();
    }
  } catch (error) {
    throw isFull(error, folder, bytesLeft) ? fullDisk(error) : error;
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
    for (const signal of SIGNALS) process.off(signal, end);
  }
}

/** PostgreSQL ends where it cannot write a segment of its WAL (16 MiB), and only its log says why. */
const FULL_DISK_BYTES = 64 * 1024 * 1024;

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function isFull(error: unknown, folder: string | undefined, bytesLeft: typeof freeBytes): boolean {
  // initdb removes its files when it fails, so that there may be room again.
  if (/no space left/i.test(String(error))) return true;
  return folder !== undefined && bytesLeft(folder) < FULL_DISK_BYTES;
}

const fullDisk = (cause: unknown): Error =>
  new Error(
    `The disk of ${tmpdir()}, for temporary files, is full: set TMPDIR to a folder on a disk with more room`,
    { cause },
  );

/**
 * Restores a backup into an empty database and rebuilds every read model there. Throws if a table has
 * another number of rows than the manifest says, or a read model differs from its rebuild. Returns a
 * sentence for each text that the log has lost.
 */
export async function verifyBackup(
  url: string,
  folder: string,
  backup: Omit<CheckedBackup, 'keys'>,
): Promise<string[]> {
  const { manifest } = backup;
  await loadBackup(url, folder, backup, async () => undefined);
  const sealed = await withConnection(clientConfigOf(url, 'verify'), verifySeal);
  if (sealed?.fault) throw new Error(`The backup is not the log that was sealed: ${sealed.fault}`);
  return withConnection(url, async (client) => {
    const short = await otherCounts(client, manifest);
    if (short.length > 0)
      throw new Error(`The backup lacks rows of the tables ${short.join(', ')}`);
    const before = await digests(client);
    await rebuild(url, catalogue, projections);
    const after = await digests(client);
    const changed = [...before.keys()].filter((table) => before.get(table) !== after.get(table));
    if (changed.length > 0)
      throw new Error(
        `The backup is complete, but these read models differ from their rebuild: ${changed.join(', ')}. Run npm run rebuild after a restore`,
      );
    const { rows } = await client.query<LostWords>(lostWords().text);
    return rows.map(describeLoss);
  });
}

async function otherCounts(client: pg.Client, { tables }: Manifest): Promise<string[]> {
  const wrong: string[] = [];
  for (const { name, rows: expected } of tables) {
    const { rows } = await client.query(`SELECT count(*) AS rows FROM ${name}`);
    if (Number(rows[0].rows) !== expected) wrong.push(name);
  }
  return wrong;
}

/** A digest of the rows of each read model, in any order, without the columns that no event has. */
async function digests(client: pg.Client): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const table of projections.flatMap((projection) => projection.tables)) {
    const { rows } = await client.query<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(hashtextextended((to_jsonb(t) - $1::text[])::text, 0)), 0) AS digest
       FROM ${table} t`,
      [UNLOGGED_COLUMNS[table] ?? []],
    );
    found.set(table, rows[0]?.digest ?? '');
  }
  return found;
}
