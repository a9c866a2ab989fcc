import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DATABASE_ROLES } from '../../services/database-roles.ts';

export const TEMPLATE = 'template_service';

export type TestDatabase = { readonly url: string; readonly pool: pg.Pool };

type Ending = { teardown(end: () => Promise<void>): unknown };

// Creates a database for the test, migrated unless `empty`, and drops it when the test ends.
export async function testDatabase(t: Ending, options: { empty?: boolean } = {}) {
  const { url, drop } = await createDatabase(options.empty ? 'template0' : TEMPLATE);
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  // Dropping the database cuts the open connections, idle or in use.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  t.teardown(async () => {
    // `end` waits for connections that were never released, so limit the wait.
    const ended = await Promise.race([
      pool.end().then(() => true),
      sleep(10_000, false, { ref: false }),
    ]);
    await drop();
    if (!ended) throw new Error('The test left a connection of its pool open');
  });
  return { url, pool } satisfies TestDatabase;
}

/** The address with which a role that the release grants connects. */
export function asRole(url: string, role: (typeof DATABASE_ROLES)[number]): string {
  const address = new URL(url);
  address.username = role;
  address.password = role;
  return address.href;
}

async function createDatabase(template: string) {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Connections that create and drop databases, one pool for each server; idle ones let the process end. */
const administrators = new Map<string, pg.Pool>();

async function administer(statement: string): Promise<void> {
  const url = adminUrl();
  let pool = administrators.get(url);
  if (!pool) {
    pool = new pg.Pool({
      connectionString: url,
      max: 2,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
    });
    // A server of one test file ends before the process.
    pool.on('error', () => undefined);
    administrators.set(url, pool);
  }
  await pool.query(statement);
}

function adminUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('Tests need their PostgreSQL: run them with npm test [files…]');
  return url;
}
