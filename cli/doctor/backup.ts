import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { failureLine } from '../../platform/command-line/failure.ts';
import { sql } from '../../platform/sql.ts';
import { holdsBackup, readManifest } from '../backup/folder.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** A day, and time for a nightly backup that takes longer than the last. */
const MAX_AGE_HOURS = 26;

/** Checks the age of the newest backup in the folder, or else that the server archives its WAL. */
export async function checkBackup({ ask, backups }: Context): Promise<Finding[]> {
  return backups === undefined ? checkArchive(ask) : folderFindings(backups);
}

/** `folder` is a backup itself, or has one backup in each of its folders. */
function folderFindings(folder: string): Finding[] {
  const minute = new Date().toISOString().slice(0, 16).replace(':', '');
  const command = `npm run backup -- ${join(folder, minute)}`;
  const folders = existsSync(folder)
    ? [folder, ...readdirSync(folder).map((name) => join(folder, name))]
    : [];
  const damaged: Finding[] = [];
  const intact: { path: string; takenAt: number }[] = [];
  for (const path of folders.filter(holdsBackup)) {
    try {
      intact.push({ path, takenAt: Date.parse(readManifest(path).taken_at) });
    } catch (error) {
      damaged.push(
        bad(`${path} is no backup (${failureLine(error).trim()})`, `${command} && rm -r ${path}`),
      );
    }
  }
  const [newest] = intact.sort((a, b) => b.takenAt - a.takenAt);
  if (!newest) return [...damaged, bad(`${folder} holds no complete backup`, command)];
  const hours = (Date.now() - newest.takenAt) / 3_600_000;
  const text = `The newest backup, ${newest.path}, is ${hours.toFixed(1)} hours old`;
  return [...damaged, hours > MAX_AGE_HOURS ? warn(text, command) : ok(text)];
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
