import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { serverBinaries } from '../../platform/embedded/binaries.ts';
import { createCluster } from '../../platform/embedded/cluster.ts';
import { databaseUrl, embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { runningPostmaster } from '../../platform/embedded/postmaster.ts';
import { withConnection } from '../../platform/postgres/connection.ts';

const folder = temporaryFolder('embedded');
const dataDir = join(folder.path, 'data');
const data = join(dataDir, 'postgres', 'data');
t.teardown(folder.remove);

const module = new URL('../../platform/embedded/postgres.ts', import.meta.url).href;

// Another process that starts the server, reports it, and then runs until its input ends.
function otherStarter() {
  const script = `
    const { embeddedPostgres } = await import(process.argv[1]);
    try {
      const server = await embeddedPostgres({ dataDir: process.argv[2] });
      process.stdout.write('started');
      process.stdin.resume().on('end', () => server.stop());
    } catch (error) {
      process.stdout.write(error.message);
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, module, dataDir]);
  child.stderr.pipe(process.stderr);
  return child;
}

function queryValue(url: string, sql: string): Promise<unknown> {
  return withConnection(url, async (client) => {
    return (await client.query({ text: sql, rowMode: 'array' })).rows[0]?.[0];
  });
}

t.test('gives the server to one of several concurrent starters', async (t) => {
  const children = [otherStarter(), otherStarter(), otherStarter()];
  const first = children.map((child) => once(child.stdout, 'data').then(String));
  const exits = children.map((child) => once(child, 'exit'));
  const outputs = await Promise.all(first);
  t.equal(outputs.filter((words) => words === 'started').length, 1);
  t.equal(outputs.filter((words) => words.includes('Already running with DATA_DIR')).length, 2);
  for (const child of children) child.stdin.end();
  await Promise.all(exits);
  t.equal(runningPostmaster(data), undefined);
});

t.test('finds the running server by its folder, and reports if there is none', async (t) => {
  const nothing = { dataDir, databaseUrl: undefined };
  t.throws(() => databaseUrl(nothing), /No instance runs with DATA_DIR/);
  t.equal(databaseUrl({ dataDir, databaseUrl: 'postgres://given/x' }), 'postgres://given/x');
  const server = await embeddedPostgres({ dataDir });
  t.equal(databaseUrl(nothing), server.url);
  t.equal(await queryValue(server.url, 'SHOW server_encoding'), 'UTF8');
  t.equal(await queryValue(server.url, 'SHOW listen_addresses'), '127.0.0.1');
  await server.stop();
  t.equal(runningPostmaster(data), undefined);
});

t.test('keeps data and password readable only by its own account', async (t) => {
  const server = await embeddedPostgres({ dataDir });
  t.equal(statSync(data).mode & 0o777, 0o700);
  for (const name of ['password', 'log'])
    t.equal(statSync(join(dataDir, 'postgres', name)).mode & 0o777, 0o600, name);
  const stranger = new URL(server.url);
  stranger.password = 'guess';
  await t.rejects(queryValue(stranger.href, 'SELECT 1'), /password authentication failed/);
  await server.stop();
});

t.test('refuses the data folder of another account and leaves nothing there', async (t) => {
  const others = join(folder.path, 'others');
  mkdirSync(join(others, 'postgres', 'data'), { recursive: true });
  const getuid = process.getuid as () => number;
  t.teardown(() => {
    process.getuid = getuid;
  });
  process.getuid = () => 54_321;
  await t.rejects(embeddedPostgres({ dataDir: others }), /belongs to another account/);
  t.same(readdirSync(others), ['postgres']);
});

t.test('takes over a server whose starter was killed', async (t) => {
  const other = otherStarter();
  t.equal(await once(other.stdout, 'data').then(String), 'started');
  const before = runningPostmaster(data);
  await queryValue(databaseUrl({ dataDir }), 'CREATE TABLE kept AS SELECT 7 AS n');
  other.kill('SIGKILL');
  await once(other, 'exit');
  const server = await embeddedPostgres({ dataDir });
  t.equal(runningPostmaster(data)?.pid, before?.pid);
  t.equal(await queryValue(server.url, 'SELECT n FROM kept'), 7);
  await server.stop();
});

t.test('notices a killed server and recovers at the next start', async (t) => {
  const server = await embeddedPostgres({ dataDir });
  process.kill(runningPostmaster(data)?.pid ?? process.pid, 'SIGKILL');
  const alive = setTimeout(() => undefined, 60_000); // the watch does not keep this process alive
  await server.died;
  clearTimeout(alive);
  await server.stop();
  const again = await embeddedPostgres({ dataDir });
  t.equal(await queryValue(again.url, 'SELECT n FROM kept'), 7);
  await again.stop();
});

t.test('starts despite a stale process id that another process now has', async (t) => {
  const server = await embeddedPostgres({ dataDir });
  const file = join(data, 'postmaster.pid');
  const left = readFileSync(file, 'utf8');
  await server.stop();
  writeFileSync(file, left.replace(/^\d+/, String(process.pid)));
  const again = await embeddedPostgres({ dataDir });
  t.equal(await queryValue(again.url, 'SELECT n FROM kept'), 7);
  await again.stop();
});

t.test('restarts an interrupted initdb', async (t) => {
  rmSync(data, { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'password.new'), 'half');
  const server = await embeddedPostgres({ dataDir });
  t.equal(await queryValue(server.url, `SELECT to_regclass('kept')`), null);
  t.notOk(existsSync(join(dataDir, 'postgres', 'password.new')));
  await server.stop();
});

t.test("keeps secrets off the server's command line", async (t) => {
  const server = await embeddedPostgres({ dataDir });
  const ps = spawn('ps', ['-eo', 'args']).on('error', () => undefined);
  t.notMatch(await text(ps.stdout), new URL(server.url).password);
  await server.stop();
});

const asRoot = {
  skip: process.getuid?.() === 0 ? false : 'only root may start initdb as another account',
};

t.test('says what to do where the account has no name on this machine', asRoot, async (t) => {
  const { path: home, remove } = temporaryFolder('nameless');
  t.teardown(remove);
  const nameless = { uid: 4_242_424, gid: 4_242_424 };
  await t.rejects(createCluster(home, serverBinaries(home, nameless), nameless), {
    message:
      /^initdb failed: .*\nAdd this account to \/etc\/passwd, or set DATABASE_URL to another PostgreSQL$/,
  });
});
