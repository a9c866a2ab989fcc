import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../harness/api.ts';
import { createEndings } from '../harness/endings.ts';
import { freePort } from '../harness/free-port.ts';
import { INHERITED_ENV } from '../harness/inherited-env.ts';
import { atDesk } from '../harness/moderation.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { createTraffic } from '../harness/traffic.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { citusVersion, findLayoutFaults } from '../services/cluster.ts';
import { openCases, type Written } from './cluster-clients.ts';

const USAGE = `Usage:
  npm run proof:cluster -- --database URL [--seconds N] [--restart-node COMMAND]

Runs the service on an empty database of a Citus cluster, to which URL leads as a superuser: writes, distributes what was
written, calls every operation, and lets members write for N seconds (60) during a rebuild and a backup. COMMAND runs every
15 seconds meanwhile: it should kill a node and start it again. Then checks what the members saw against the log.
`;

const MEMBERS = 6;
const RESTART_SECONDS = 15;
const PASSPHRASE = 'only for this proof';

const { values } = processArguments(
  USAGE,
  {
    database: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    'restart-node': { type: 'string' },
  },
  [0, 0],
  ({ values: { database, seconds } }) => {
    if (!database) throw new ArgumentError('--database is missing.');
    if (!(Number(seconds) > 0))
      throw new ArgumentError('--seconds must be a number greater than 0.');
  },
);
const { database: url = '', 'restart-node': restart } = values;
const seconds = Number(values.seconds);

const ROOT = join(import.meta.dirname, '..');
const { onEnd, end } = createEndings();
const { path: folder } = temporaryFolder('proof-cluster');
const log = createWriteStream(join(folder, 'log'), { flags: 'a' });
const port = await freePort();
const baseUrl = `http://127.0.0.1:${port}`;
const api = createApi(baseUrl);
const secret = () => randomBytes(32).toString('hex');
const environment: Record<string, string> = {
  ...INHERITED_ENV,
  BASE_URL: baseUrl,
  HOST: '127.0.0.1',
  PORT: port,
  DATA_DIR: join(folder, 'data'),
  SERVER_KEYS: `1:${secret()}`,
  SEAL_KEY: secret(),
  BACKUP_PASSPHRASE: PASSPHRASE,
  LIMIT_KEY_ATTEMPTS: '1000000',
  LIMIT_BOOTSTRAP_ATTEMPTS: '1000000',
  LIMIT_REGISTRATIONS_PER_DAY: '1000000',
  LIMIT_REGISTRATIONS_PER_HOUR: '1000000',
  LIMIT_NOTES_PER_TEN_MINUTES: '1000000',
  LIMIT_NOTES_PER_DAY: '1000000',
  LIMIT_GUEST_NOTES_PER_HOUR: '1000000',
  LIMIT_WRITES_PER_DAY: '1000000',
};

const say = (line: string) => process.stdout.write(`${line}\n`);
const wrong: string[] = [];

/** Runs a command of the service as the operator; throws with what it said if it fails. */
async function run(file: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: ROOT,
    env: { ...environment, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, failed, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')}: ${failed || said}`);
  return said.trim();
}

const processes: ChildProcess[] = [];

async function startProcesses(): Promise<void> {
  const address = new URL(url);
  address.username = 'service';
  address.password = secret();
  await withConnection(url, (client) =>
    client.query(`ALTER ROLE service PASSWORD '${address.password}'`),
  );
  for (const file of ['services/web.ts', 'workers/worker.ts']) {
    const child = spawn(process.execPath, [file], {
      cwd: ROOT,
      env: { ...environment, DATABASE_URL: address.href, METRICS_PORT: await freePort() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    processes.push(child);
  }
  const until = performance.now() + 60_000;
  while ((await api.call('GET', '/readyz').catch(() => undefined))?.status !== 200) {
    if (performance.now() > until) throw new Error(`The service did not start: ${folder}/log`);
    await sleep(200);
  }
}

async function stopProcesses(): Promise<void> {
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

function report(what: string, { acknowledged, repeated, slowestMs, wrong: found }: Written): void {
  say(
    `${what}: ${acknowledged} acknowledged, ${repeated} answers were 503 or missing, the slowest took ${Math.round(slowestMs)} ms`,
  );
  wrong.push(...found);
}

/** Calls every operation of the API once. */
async function walk(): Promise<void> {
  const [moderator, lead] = await Promise.all(
    (['moderator', 'lead'] as const).map(async (role) => {
      const said = await run('cli/moderator.ts', 'add', `The ${role}`, '--role', role);
      const token = said.split('\n').at(-1) ?? '';
      const headers = { authorization: `Bearer ${token}` };
      const { body } = await api.call('GET', '/api/moderation/me', { headers });
      return atDesk(api, { id: body.moderator.id, token });
    }),
  );
  if (!moderator || !lead) throw new Error('no moderators');
  let count = 0;
  for (const { name, prepare } of await createTraffic(api, { moderator, lead })) {
    const { status, text: answer } = await (await prepare())();
    count++;
    if (status >= 400) wrong.push(`${name}: ${status} ${answer}`);
  }
  say(`Called ${count} operations`);
}

/** Runs the operator's command again and again until a time. */
async function restartNodes(command: string, until: number): Promise<number> {
  let count = 0;
  while (performance.now() + RESTART_SECONDS * 1000 < until) {
    await sleep((RESTART_SECONDS * 1000) / 2);
    const child = spawn(command, { shell: true, stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    if (code !== 0) wrong.push(`--restart-node ended with ${code}`);
    count++;
    await sleep((RESTART_SECONDS * 1000) / 2);
  }
  return count;
}

/** Runs a command of the operator while nodes are killed, until it succeeds. */
async function runAgain(file: string, args: readonly string[], until: number): Promise<string> {
  for (;;) {
    try {
      return await run(file, ...args);
    } catch (error) {
      if (!restart || performance.now() > until) throw error;
      await sleep(1000);
    }
  }
}

async function prove(): Promise<void> {
  const version = await withConnection(url, citusVersion);
  say(`${new Date().toISOString()}: Citus ${version ?? '(none)'}`);
  await run('services/release.ts', '--grant');
  await startProcesses();
  report('Before the distribution', await openCases(api, 2, performance.now() + 3000));
  await stopProcesses();
  say(await run('services/release.ts', '--distribute'));
  await startProcesses();
  await walk();

  const until = performance.now() + seconds * 1000;
  const backup = join(folder, 'backup');
  const [written, restarts] = await Promise.all([
    openCases(api, MEMBERS, until),
    restart ? restartNodes(restart, until) : 0,
    runAgain('cli/rebuild.ts', [], until).then(say),
    runAgain('cli/backup.ts', [backup], until).then(say),
  ]);
  report(`With ${restarts} restarts of nodes, a rebuild and a backup`, written);
  say(await run('cli/verify.ts', backup));

  await stopProcesses();
  say(await run('cli/verify.ts', '--seal'));
  const last = join(folder, 'last');
  await run('cli/backup.ts', last);
  say(await run('cli/verify.ts', last));
  await withConnection(url, async (client) => {
    for (const { fault } of await findLayoutFaults(client)) wrong.push(fault);
    const { rows } = await client.query<{ result: string }>(
      `SELECT result FROM run_command_on_all_nodes('SELECT count(*) FROM pg_prepared_xacts')`,
    );
    if (rows.some(({ result }) => result !== '0'))
      wrong.push(`prepared transactions: ${rows.map(({ result }) => result).join(', ')}`);
  });
}

onEnd(stopProcesses);
try {
  await prove();
} catch (error) {
  wrong.unshift((error as Error).message);
} finally {
  await end();
}
for (const line of wrong.slice(0, 20)) say(`WRONG  ${line}`);
say(
  wrong.length === 0 ? '\nNothing is wrong.' : `\n${wrong.length} faults. The log: ${folder}/log`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
