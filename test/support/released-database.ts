import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { clientConfigOf, copyIn } from '../../cli/backup/copy.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { testDatabase } from './database.ts';
import { firstMigrations } from './migration-folders.ts';

/** A database as a former release left it, and what a caller needs to use it. */
interface Released {
  migrations: string[];
  server_keys: string;
  last_position: number;
  member: { id: string; handle: string; sign_in_key: string };
  /** A member with a session, who wrote notes. */
  author: { id: string; handle: string; sign_in_key: string };
  deleted: { id: string; sign_in_key: string };
  lead: string;
  approved_note: string;
  claimed_case: string;
  closed_case: string;
  tables: { name: string; columns: string[]; rows: string }[];
}

/**
 * Release 0.9.0 (commit 96294a5f): 579 events of 60 of its 69 types, with waiting jobs, claims and leases, and erasures
 * under way. Every operation of its test traffic ran three times against a fresh instance; then members, moderators and
 * guests did by hand what the traffic leaves out. The rows are from its `npm run backup`; the keys exist nowhere else.
 */
export const release090: Released = JSON.parse(
  gunzipSync(readFileSync(new URL('released/0.9.0.json.gz', import.meta.url))).toString(),
);

/** Restores the database of a former release, with the schema that it had. */
export async function releasedDatabase(
  t: Parameters<typeof testDatabase>[0],
  released: Released = release090,
) {
  const database = await testDatabase(t, { empty: true });
  await migrate(database.url, { folder: firstMigrations(t, released.migrations.length) });
  await withConnection(clientConfigOf(database.url, 'released database'), async (client) => {
    await client.query('BEGIN');
    for (const { name, columns, rows } of released.tables) {
      await client.query(`DELETE FROM ${name}`);
      const source = Readable.from([Buffer.from(rows)]);
      await copyIn(client, `COPY ${name} (${columns.join(', ')}) FROM STDIN`, source);
    }
    await client.query(`SELECT setval('events_position_seq', $1)`, [released.last_position]);
    // The log is complete on this server, as after a move.
    await client.query('UPDATE log_epochs SET server = DEFAULT');
    await client.query('COMMIT');
    await client.query('ANALYZE');
  });
  return database;
}
