import { randomBytes } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { createEndings } from '../harness/endings.ts';
import type { NeighbourSizes } from '../harness/huge-neighbours.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { embeddedPostgres } from '../platform/embedded/postgres.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { PARTITIONS, partitionTables } from '../services/partitions.ts';
import type { Comparison, Pace, Result } from './pair.ts';
import { COUNTING } from './statements.ts';

export interface Bench {
  name: string;
  prepare(setting: BenchEnvironment, without?: string): Promise<Comparison[]>;
}

export interface BenchOptions {
  /** Events in the long log of rebuild. */
  events: number;
  /** Events in the logs of growth, ascending. */
  sizes: readonly number[];
  /** What is around the subjects of growth on its last side. */
  neighbours: NeighbourSizes;
  pace: Pace;
  /** Runs only operations whose name contains this text. */
  only: string | undefined;
  /** Folder of another checkout whose build is measured too. */
  beside: string | undefined;
  /** Measures growth and rebuild on partitioned tables, and plain ones beside them. */
  partitions: boolean;
}

/** A benchmark that measures by itself; it runs only if named, since it takes long. */
export interface LongBenchmark {
  name: string;
  measure(
    setting: BenchEnvironment,
    asked: BenchOptions,
    tell: (result: Result) => void,
  ): Promise<void>;
}

export type DatabaseKind = 'migrated' | 'partitioned' | 'empty';

/** The environment of benchmarks. Resources are closed in reverse order of opening. */
export interface BenchEnvironment {
  /** URL of the server's default database. */
  server: string;
  /**
   * Creates a database, migrated for the service, also partitioned, or empty for a floor, and returns its URL.
   * `flushMs` delays each of its flushes by that many milliseconds, as on a slow disk.
   */
  database(kind: DatabaseKind, flushMs?: number): Promise<string>;
  serverKeys: string;
  onEnd(close: () => unknown): void;
}

/** The `shared_buffers` that PostgreSQL's manual recommends: a quarter of the memory. */
function quarterOfMemory(): string {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return `${Math.floor(memory / 4 / 1024 ** 2)}MB`;
}

/** Runs `work` with a temporary PostgreSQL that flushes every commit, as in production. */
export async function withBenchEnvironment(
  work: (setting: BenchEnvironment) => Promise<void>,
  { counting = false } = {},
): Promise<void> {
  const { path, remove } = temporaryFolder('bench-postgres');
  const { onEnd, end } = createEndings();
  onEnd(remove);
  try {
    const dataDir = join(path, 'data');
    const settings = {
      max_connections: 500,
      shared_buffers: quarterOfMemory(),
      ...(counting ? COUNTING : {}),
    };
    const server = await embeddedPostgres({ dataDir, settings });
    const home = realpathSync(join(dataDir, 'postgres'));
    onEnd(() => rmSync(home, { recursive: true }));
    onEnd(() => server.stop());
    await work({
      server: server.url,
      database: (kind, flushMs = 0) => newDatabase(server.url, kind, flushMs),
      serverKeys: `1:${randomBytes(32).toString('hex')}`,
      onEnd,
    });
  } finally {
    await end();
  }
}

async function newDatabase(server: string, kind: DatabaseKind, flushMs: number) {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await withConnection(server, async (admin) => {
    await admin.query(`CREATE DATABASE ${name}`);
    if (flushMs === 0) return;
    await admin.query(`ALTER DATABASE ${name} SET commit_delay = ${flushMs * 1000}`);
    await admin.query(`ALTER DATABASE ${name} SET commit_siblings = 0`);
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  if (kind !== 'empty') await migrate(url.href);
  if (kind === 'partitioned')
    await withConnection(url.href, (client) => partitionTables(client, PARTITIONS));
  return url.href;
}
