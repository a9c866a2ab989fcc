import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, globSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { createCertificate } from '../../harness/certificate.ts';
import { findProgram, needs } from '../../harness/programs.ts';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { serverAccount } from '../../platform/embedded/account.ts';
import { isServerOfFolder, runningPostmaster } from '../../platform/embedded/postmaster.ts';
import { writeConfig } from './deploy-config.ts';

/** The programs of a whole installation of PostgreSQL, which the npm package lacks. */
const BINARIES = globSync('/usr/lib/postgresql/*/bin/pg_rewind').map(dirname).sort().at(-1);

/** Options for `t.test`: reports the test as skipped without the programs that a cluster needs. */
export const needsPatroni = (): { skip?: string } =>
  BINARIES
    ? needs('patroni', 'etcd', 'haproxy', 'openssl')
    : { skip: 'no /usr/lib/postgresql/*/bin/pg_rewind found: install it to run this test' };

/** A member of the cluster, as Patroni tells it. */
interface Member {
  name: string;
  role: 'leader' | 'replica' | 'sync_standby';
  state: string;
  timeline?: number;
}

export type Machine = 'db1' | 'db2';

export type Cluster = Awaited<ReturnType<typeof startPatroni>>;

/** The loopback addresses of three machines, in a network that no other test uses. */
export const newNetwork = () => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.`;

/**
 * Writes deploy/patroni.yml for one of the machines with PostgreSQL, whose addresses are on the loopback
 * `network`, and whose files are in `folder`.
 */
export function writePatroniConfig(
  t: Test,
  machine: Machine,
  {
    network,
    folder,
    secret = 'secret',
    certificate = { cert: join(folder, 'server.crt'), key: join(folder, 'server.key') },
  }: {
    network: string;
    folder: string;
    secret?: string;
    certificate?: { cert: string; key: string };
  },
): string {
  const own = machine === 'db1' ? '192.0.2.11:' : '192.0.2.12:';
  return writeConfig(t, 'patroni.yml', {
    'name: db1': `name: ${machine}`,
    'listen: 192.0.2.11:': `listen: ${own}`,
    'connect_address: 192.0.2.11:': `connect_address: ${own}`,
    // Connections between loopback addresses come from 127.0.0.1.
    '192.0.2.0/24': '127.0.0.0/8',
    '192.0.2.': network,
    'CHANGE-ME': secret,
    '/usr/lib/postgresql/15/bin': BINARIES ?? '',
    '/var/lib/postgresql': folder,
    '/var/run/postgresql': folder,
    '/etc/postgresql/tls/ca.crt': certificate.cert,
    '/etc/postgresql/tls/server.crt': certificate.cert,
    '/etc/postgresql/tls/server.key': certificate.key,
    'shared_buffers: 1GB': 'shared_buffers: 64MB',
    'wal_keep_size: 2GB': 'wal_keep_size: 256MB',
  });
}

/**
 * Starts etcd on three machines and PostgreSQL under Patroni on two, with the files of deploy/; resolves
 * when the second is a synchronous standby. Each machine has an address of the loopback network.
 */
export async function startPatroni(t: Test) {
  const folder = temporaryFolder('patroni', inMemory());
  t.teardown(folder.remove);
  const account = serverAccount(join(folder.path, 'none'));
  const makeFolder = (name: string): string => {
    const path = join(folder.path, name);
    mkdirSync(path, { mode: 0o700 });
    if (account) chownSync(path, account.uid, account.gid);
    return path;
  };
  const network = newNetwork();
  const secret = randomBytes(8).toString('hex');
  const address = { db1: `${network}11`, db2: `${network}12`, third: `${network}13` };
  const names = ['127.0.0.1', ...Object.values(address)].map((one) => `IP:${one}`);
  const certificate = createCertificate(makeFolder('tls'), names.join(','));
  if (account)
    for (const file of [certificate.cert, certificate.key])
      chownSync(file, account.uid, account.gid);
  // Clients of another account read the certificate.
  chmodSync(dirname(certificate.cert), 0o711);

  function run(name: string, args: string[], within: string, env: Record<string, string> = {}) {
    const log = openSync(join(within, `${name}.log`), 'a');
    return spawn(findProgram(name) ?? name, args, {
      cwd: within,
      env: { PATH: process.env.PATH, HOME: within, LC_ALL: 'C.UTF-8', ...env },
      stdio: ['ignore', log, log],
      ...account,
    });
  }

  function startEtcd(number: 1 | 2 | 3, within: string): ChildProcess {
    const own = '192.0.2.11:';
    const file = writeConfig(t, 'etcd.env', {
      'ETCD_NAME=etcd1': `ETCD_NAME=etcd${number}`,
      [`_URLS=http://${own}`]: `_URLS=http://${network}1${number}:`,
      '192.0.2.': network,
    });
    const lines = readFileSync(file, 'utf8').matchAll(/^(ETCD_\w+)=(.*)$/gm);
    const env = Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
    return run('etcd', [], within, { ...env, ETCD_DATA_DIR: join(within, 'etcd') });
  }

  const newMachine = (name: Machine) => {
    const home = makeFolder(name);
    const config = writePatroniConfig(t, name, { network, folder: home, secret, certificate });
    return { home, config, data: join(home, '15/service'), processes: [] as ChildProcess[] };
  };
  const machines = { db1: newMachine('db1'), db2: newMachine('db2') };

  function start(name: Machine): void {
    const { home, config, processes } = machines[name];
    processes.push(startEtcd(name === 'db1' ? 1 : 2, home), run('patroni', [config], home));
  }

  /** Kills every process of a machine, as a loss of power does. */
  async function kill(name: Machine): Promise<void> {
    const { data, processes } = machines[name];
    for (const process of processes.splice(0)) await killProcess(process);
    const postmaster = runningPostmaster(data)?.pid;
    if (postmaster === undefined) return;
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
    for (const pid of [postmaster, ...children.trim().split(' ').map(Number)])
      if (pid > 0) killPid(pid);
    while (isServerOfFolder(data, postmaster)) await sleep(20);
  }

  const third = startEtcd(3, makeFolder('third'));
  t.teardown(async () => {
    await Promise.all([kill('db1'), kill('db2'), killProcess(third)]);
  });

  /** The members that Patroni knows; empty while none answers. */
  async function members(): Promise<Member[]> {
    for (const name of ['db1', 'db2'] as const) {
      const answer = await fetch(`http://${address[name]}:8008/cluster`).catch(() => undefined);
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }

  /** Resolves once both PostgreSQL run, one as the synchronous standby of the other; returns the leader's name. */
  async function untilSynchronous(): Promise<Machine> {
    for (; ; await sleep(100)) {
      const all = await members();
      const leader = all.find(({ role, state }) => role === 'leader' && state === 'running');
      const standby = all.find(({ role }) => role === 'sync_standby');
      const follows = ['running', 'streaming'].includes(standby?.state ?? '');
      if (leader && follows && standby?.timeline === leader.timeline) return leader.name as Machine;
    }
  }

  start('db1');
  start('db2');
  const user = (name: string, password: string) => `postgres://${name}:${password}`;
  return {
    address,
    /** The address of the service's database on a host, over TLS, for a role whose name is its password. */
    urlOf: (role: string, host: string) =>
      `${user(role, role)}@${host}/service?sslmode=verify-full&sslrootcert=${certificate.cert}`,
    /** The configuration of a machine, for commands of Patroni. */
    config: (name: Machine) => machines[name].config,
    /** The log of a machine's Patroni, with that of its PostgreSQL. */
    log: (name: Machine) => readFileSync(join(machines[name].home, 'patroni.log'), 'utf8'),
    /** The address of a database as the superuser, over the socket of a machine. */
    superuserUrl: (name: Machine, database: string) =>
      `${user('postgres', `${secret}-superuser`)}@localhost/${database}?host=${encodeURIComponent(machines[name].home)}`,
    start,
    kill,
    members,
    untilSynchronous,
  };
}

async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
