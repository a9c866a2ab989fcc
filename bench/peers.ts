import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../harness/free-port.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { command, emmett, MESSAGE, service } from './append.ts';
import type { BenchEnvironment, LongBenchmark } from './environment.ts';
import { NOTES, posts, reads, startService } from './guestbook.ts';
import { loops, requests } from './load.ts';
import { type Comparison, type Contender, compare } from './pair.ts';
import { startServer } from './processes.ts';

const WIDTHS = [1, 2, 8, 32] as const;
/** How fast an append is meant to be beside message-db and emmett, by connections. */
const AIMS = {
  1: { messageDb: 0.6, emmett: 1 },
  2: { messageDb: 1, emmett: 1 },
  8: { messageDb: 1, emmett: 2 },
  32: { messageDb: 1, emmett: 4 },
} as const;
const MESSAGE_DB = '@eventide/message-db@1.3.1';
const ISSO = 'isso==0.14.0';
const ISSO_CONNECTIONS = 32;
/** The files of message-db's install.sh, in its order. */
const SQL_FILES = [
  'schema/message-store',
  'types/message',
  'extensions/pgcrypto',
  'tables/messages',
  ...['message-store-version', 'hash-64', 'acquire-lock', 'category', 'is-category', 'id'],
  ...['cardinal-id', 'stream-version', 'write-message', 'get-stream-messages'],
  ...['get-category-messages', 'get-last-stream-message'],
  'indexes/messages-id',
  'indexes/messages-stream',
  'indexes/messages-category',
].map((name) => (name.includes('/') ? name : `functions/${name}`));

/**
 * Compares an append with message-db's and emmett's, and the guestbook with isso. Installs message-db and isso from
 * their registries into temporary folders, and leaves out what cannot be installed.
 */
export const peers: LongBenchmark = {
  name: 'peers',
  async measure(setting, { pace }, tell) {
    const folder = await install(setting, 'message-db', (path) => [
      ['npm', 'install', '--no-save', '--no-audit', '--no-fund', '--prefix', path, MESSAGE_DB],
    ]);
    const venv = await install(setting, 'isso', (path) => [
      ['python3', '-m', 'venv', path],
      [join(path, 'bin/pip'), 'install', '--quiet', ISSO],
    ]);
    const sql = folder && readSql(join(folder, 'node_modules/@eventide/message-db/database'));
    for (const width of WIDTHS)
      for (const result of await compare(await appends(setting, width, sql), pace)) tell(result);
    if (venv === undefined) return;
    for (const comparison of await guestbooks(setting, venv))
      for (const result of await compare(comparison, pace)) tell(result);
  },
};

/** Runs the commands that install a peer into a new folder; undefined if one of them fails. */
async function install(
  { onEnd }: BenchEnvironment,
  name: string,
  commands: (path: string) => (readonly [program: string, ...args: string[]])[],
): Promise<string | undefined> {
  const { path, remove } = temporaryFolder(`bench-${name}`);
  onEnd(remove);
  try {
    for (const [program, ...args] of commands(path)) await promisify(execFile)(program, args);
    return path;
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    process.stdout.write(`peers / ${name} cannot be installed and is left out: ${line}\n`);
    return undefined;
  }
}

const readSql = (folder: string): string =>
  SQL_FILES.map((name) => readFileSync(join(folder, `${name}.sql`), 'utf8')).join('\n');

async function appends(
  setting: BenchEnvironment,
  width: (typeof WIDTHS)[number],
  sql: string | undefined,
): Promise<Comparison> {
  const aims = AIMS[width];
  const floors: Comparison['floors'][number][] = [
    {
      name: 'emmett, one event',
      aim: aims.emmett,
      contender: await emmett(setting, await setting.database('empty'), width),
    },
  ];
  if (sql !== undefined)
    floors.push({
      name: 'message-db, one message and a row of a read model in one transaction',
      aim: aims.messageDb,
      contender: await messageDb(setting, sql, width),
    });
  return {
    name: `append of one command, ${width} ${width === 1 ? 'connection' : 'connections'}`,
    ours: await service(setting, await setting.database('migrated'), width, command, true),
    floors,
  };
}

async function messageDb(
  setting: BenchEnvironment,
  sql: string,
  width: number,
): Promise<Contender> {
  const connectionString = await setting.database('empty');
  await withConnection(connectionString, async (client) => {
    await client.query(sql);
    await client.query('CREATE TABLE public.notes (id uuid PRIMARY KEY, note jsonb NOT NULL)');
  });
  const pool = new pg.Pool({
    connectionString,
    max: width,
    options: '-c search_path=message_store,public',
  });
  setting.onEnd(() => pool.end());
  return loops(width, async () => {
    const id = randomUUID();
    const note = JSON.stringify({ name: 'Ada', message: MESSAGE });
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query({
        name: 'write',
        text: 'SELECT write_message($1::varchar, $2::varchar, $3::varchar, $4::jsonb, NULL, -1)',
        values: [randomUUID(), `note-${id}`, 'NoteSubmitted', note],
      });
      await client.query({
        name: 'insert',
        text: 'INSERT INTO notes (id, note) VALUES ($1, $2)',
        values: [id, note],
      });
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  });
}

async function guestbooks(setting: BenchEnvironment, venv: string): Promise<Comparison[]> {
  const { base } = await startService(setting);
  const isso = await startIsso(setting, venv);
  const comment = () => JSON.stringify({ author: 'Ada', text: MESSAGE, title: 'Notes' });
  const write = (uri: string) =>
    requests(`${isso}/new?uri=${uri}`, ISSO_CONNECTIONS, {
      method: 'POST',
      headers: { origin: isso, 'content-type': 'application/json' },
      setupRequest: (request) => ({ ...request, body: comment() }),
    });
  for (let n = 0; n < NOTES; n++) {
    const headers = { origin: isso, 'content-type': 'application/json' };
    const answer = await fetch(`${isso}/new?uri=/read`, {
      method: 'POST',
      headers,
      body: comment(),
    });
    if (!answer.ok) throw new Error(`isso: ${answer.status} ${await answer.text()}`);
  }
  const read = requests(`${isso}/?uri=/read`, ISSO_CONNECTIONS, { method: 'GET' });
  const name = 'isso, the same number of connections';
  return [
    {
      name: `GET /api/guestbook, ${NOTES} notes`,
      ours: reads(base),
      floors: [{ name, aim: 1, contender: read }],
    },
    {
      name: 'POST /api/guestbook',
      ours: posts(base),
      floors: [{ name, aim: 1, contender: write('/write') }],
    },
  ];
}

/** Starts isso with a database file, without its guard against floods. */
async function startIsso(setting: BenchEnvironment, venv: string): Promise<string> {
  const base = `http://127.0.0.1:${await freePort()}`;
  const file = join(venv, 'isso.cfg');
  writeFileSync(
    file,
    `[general]
dbpath = ${join(venv, 'comments.db')}
log-file = ${join(venv, 'isso.log')}
host = ${base}
[server]
listen = ${base}
[guard]
enabled = false
`,
  );
  const args = ['-c', file, 'run'];
  await startServer(setting, args, {}, base, '/info', undefined, join(venv, 'bin/isso'));
  return base;
}
