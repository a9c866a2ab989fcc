import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { failureLine } from '../../platform/command-line/failure.ts';
import { sql } from '../../platform/sql.ts';
import { type LastBackup, lastBackup } from '../../services/backups/last-backup.ts';
import { holdsBackup, type Manifest, readCompleteManifest } from '../backup/folder.ts';
import { requireSameRelease } from '../backup/load.ts';
import { findTables, requireSameTables, type Table } from '../backup/tables.ts';
import { bad, type Context, type Finding, ok, shellWord, warn } from './check.ts';

/** A day, and time for a nightly backup that takes longer than the last. */
const MAX_AGE_HOURS = 26;

/**
 * Checks the age of the newest backup in the folder, and by its manifest that this release can restore it. Without a
 * folder, checks what the last scheduled backup recorded, or else that the server archives its WAL.
 */
export async function checkBackup({
  ask,
  client,
  backups,
}: Pick<Context, 'ask' | 'client' | 'backups'>): Promise<Finding[]> {
  if (backups !== undefined) return folderFindings(backups, (await findTables(client)).tables);
  const [last] = await ask(lastBackup());
  return last ? [scheduledFinding(last)] : checkArchive(ask);
}

function scheduledFinding({ taken_at, ended_at, failed }: LastBackup): Finding {
  const command = 'npm run backup -- --keep 14 FOLDER';
  const hours = taken_at ? (Date.now() - taken_at.getTime()) / 3_600_000 : Infinity;
  const text = taken_at
    ? `The last scheduled backup that was verified is ${hours.toFixed(1)} hours old`
    : 'No scheduled backup was ever verified';
  if (failed) return bad(`${text}, and that of ${ended_at.toISOString()} failed`, command);
  return hours > MAX_AGE_HOURS ? warn(text, command) : ok(text);
}

/** `folder` is a backup itself, or has one backup in each of its folders. */
function folderFindings(folder: string, tables: readonly Table[]): Finding[] {
  const minute = new Date().toISOString().slice(0, 16).replace(':', '');
  const command = `npm run backup -- ${shellWord(join(folder, minute))}`;
  const folders = existsSync(folder)
    ? [folder, ...readdirSync(folder).map((name) => join(folder, name))]
    : [];
  const damaged: Finding[] = [];
  const intact: { path: string; manifest: Manifest; takenAt: number }[] = [];
  for (const path of folders.filter(holdsBackup)) {
    try {
      const manifest = readCompleteManifest(path);
      intact.push({ path, manifest, takenAt: Date.parse(manifest.taken_at) });
    } catch (error) {
      damaged.push(
        bad(
          `${path} is no backup (${failureLine(error).trim()})`,
          `${command} && rm -r ${shellWord(path)}`,
        ),
      );
    }
  }
  const [newest] = intact.sort((a, b) => b.takenAt - a.takenAt);
  if (!newest) return [...damaged, bad(`${folder} holds no complete backup`, command)];
  const hours = (Date.now() - newest.takenAt) / 3_600_000;
  const text = `The newest backup, ${newest.path}, is ${hours.toFixed(1)} hours old`;
  const refusal = refusalOf(newest.manifest, tables);
  if (refusal !== undefined)
    return [...damaged, bad(`${newest.path} cannot be restored (${refusal})`, command)];
  return [...damaged, hours > MAX_AGE_HOURS ? warn(text, command) : ok(text)];
}

/** Why this release would refuse to restore a backup, by its manifest. */
function refusalOf(manifest: Manifest, tables: readonly Table[]): string | undefined {
  try {
    requireSameRelease(manifest);
    requireSameTables(manifest.tables, tables);
    return undefined;
  } catch (error) {
    return failureLine(error).trim();
  }
}

interface Archive {
  archives: boolean;
  fails: boolean;
  last: Date | null;
}

async function checkArchive(ask: Context['ask']): Promise<Finding[]> {
  const [archive] =
    await ask(sql<Archive>`SELECT current_setting('archive_mode') <> 'off' AS archives,
    coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS fails,
    last_archived_time AS last FROM pg_stat_archiver`);
  if (!archive?.archives)
    return [
      warn(
        'No backup is known: the server archives no WAL, and no folder is given',
        'npm run backup -- FOLDER, then npm run doctor -- FOLDER',
      ),
    ];
  const text = `last archived: ${archive.last?.toISOString() ?? 'never'}`;
  return archive.fails || archive.last === null
    ? [
        bad(
          `The server fails to archive its WAL (${text})`,
          "ALTER SYSTEM SET archive_command = '…'; SELECT pg_reload_conf()",
        ),
      ]
    : [ok(`The server archives its WAL (${text})`)];
}
