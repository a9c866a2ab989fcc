import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createApi } from '../harness/api.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import type { ProofEnvironment } from './environment.ts';

const ROOT = join(import.meta.dirname, '..');
/** Sign-ins between the backup and the restore, and after it; more, so that the numbers overlap. */
const LOST_LOGINS = 4;
const LATER_LOGINS = 8;

interface Entry {
  id: string;
  sequence: number;
}

/**
 * Backs up the database, lets a member's feed grow, and restores. The client of `client/example.ts`
 * follows the feed all the time; returns what it recorded wrongly. The database holds the backup
 * afterwards.
 */
export async function restoreDrill(stage: ProofEnvironment): Promise<string[]> {
  const { path, remove } = temporaryFolder('drill');
  const [agentFolder, backupFolder] = [join(path, 'agent'), join(path, 'backup')];
  const [baseUrl = ''] = stage.addresses;
  const run = (file: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(ROOT, file), ...args], {
      env: {
        ...stage.env,
        DATABASE_URL: stage.url(),
        DATABASE_DIRECT_URL: stage.url(),
        BACKUP_PASSPHRASE: 'correct horse battery',
      },
      timeout: 60_000,
    });
  const follow = () => run('client/example.ts', baseUrl, agentFolder, '--until-now');
  try {
    await stage.ready();
    await follow();
    const identity = readFileSync(join(agentFolder, 'identity.json'), 'utf8');
    const { id, sign_in_key } = JSON.parse(identity) as { id: string; sign_in_key: string };
    const signIn = async (count: number) => {
      const api = createApi(baseUrl);
      for (let one = 0; one < count; one++)
        await api.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
    };
    await run('cli/backup.ts', backupFolder);
    await signIn(LOST_LOGINS);
    await follow();
    await stage.stop([...stage.web, ...stage.workers]);
    await replaceDatabase(stage.url());
    await run('cli/restore.ts', backupFolder);
    await stage.ready();
    await signIn(LATER_LOGINS);
    await follow();
    return compare(recorded(agentFolder), await feedOf(stage.url(), id));
  } finally {
    remove();
  }
}

/** Drops the database and creates it again, empty. */
async function replaceDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const admin = new URL(url);
  admin.pathname = '/postgres';
  await withConnection(admin.href, async (client) => {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  });
}

function recorded(folder: string): Entry[] {
  const lines = readFileSync(join(folder, 'events.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.flatMap((line) => (JSON.parse(line) as { events: Entry[] }).events);
}

function feedOf(url: string, memberId: string): Promise<Entry[]> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query<Entry>(
      'SELECT event_id AS id, sequence::int FROM feed WHERE member_id = $1 ORDER BY sequence',
      [memberId],
    );
    return rows;
  });
}

/** Describes the entries in which a record differs from the feed. */
export function compare(record: readonly Entry[], feed: readonly Entry[]): string[] {
  return Array.from({ length: Math.max(record.length, feed.length) }, (_, index) => index)
    .filter((index) => record[index]?.id !== feed[index]?.id)
    .map((index) => {
      const { id = 'nothing' } = record[index] ?? {};
      return `entry ${index + 1} is ${feed[index]?.id ?? 'none'}, ${id} was recorded`;
    });
}
