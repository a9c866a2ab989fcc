import { randomBytes } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { embeddedPostgres } from '../services/embedded/postgres.ts';
import { migrate } from '../services/migrate.ts';
import { temporaryFolder } from '../test/harness/temporary-folder.ts';
import type { Comparison } from './pair.ts';

export interface Bench {
  name: string;
  prepare(setting: Setting): Promise<Comparison[]>;
}

/** What benches run in. What they open is closed in the opposite order. */
export interface Setting {
  /**
   * A new database: the service's, migrated, or an empty one for a floor. `flushMs` makes each of
   * its flushes take so much longer, as on a slow disk.
   */
  database(kind: 'migrated' | 'empty', flushMs?: number): Promise<string>;
  serverKeys: string;
  onEnd(close: () => unknown): void;
}

/** A throwaway PostgreSQL that flushes every commit to disk, as in production. */
export async function withSetting(work: (setting: Setting) => Promise<void>): Promise<void> {
  const { path, remove } = temporaryFolder('bench-postgres');
  const ends: (() => unknown)[] = [remove];
  try {
    const dataDir = join(path, 'data');
    const server = await embeddedPostgres({ dataDir, settings: { max_connections: 200 } });
    const home = realpathSync(join(dataDir, 'postgres'));
    ends.push(
      () => rmSync(home, { recursive: true }),
      () => server.stop(),
    );
    await work({
      database: (kind, flushMs = 0) => newDatabase(server.url, kind, flushMs),
      serverKeys: `1:${randomBytes(32).toString('hex')}`,
      onEnd: (close) => ends.push(close),
    });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function newDatabase(server: string, kind: 'migrated' | 'empty', flushMs: number) {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client(server);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  if (flushMs > 0) {
    await admin.query(`ALTER DATABASE ${name} SET commit_delay = ${flushMs * 1000}`);
    await admin.query(`ALTER DATABASE ${name} SET commit_siblings = 0`);
  }
  await admin.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  if (kind === 'migrated') await migrate(url.href);
  return url.href;
}
