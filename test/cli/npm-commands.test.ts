import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { startInstance } from '../../harness/instance.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { DOCUMENTS } from '../support/documents.ts';

const ROOT = join(import.meta.dirname, '..', '..');

// Benchmarks and proof mostly wait for the disk, which is slow on a busy machine.
t.setTimeout(900_000);

interface ShortRun {
  args: string[];
  /** A line of the output that only a complete run prints. */
  prints: RegExp;
  /** Accepted exit statuses; by default only 0. */
  exits?: readonly number[];
}

const HANDOFF = ['examples/handoff/packet.json', '--root', 'examples/handoff/fixture'];

/** Commands that run on one instance, in this order; FOLDER and ADDRESS are replaced. */
const ON_INSTANCE: Record<string, ShortRun> = {
  moderator: {
    args: ['add', 'grace', '--role', 'moderator'],
    prints: /^Added grace \(moderator, \S+\)[\s\S]*\nmod_\S+\n$/,
  },
  agent: { args: ['ADDRESS/', 'FOLDER/agent', '--until-now'], prints: /^1 member\.registered /m },
  keys: { args: ['status'], prints: /^1\tnewest\t\d/m },
  // The agent of the command before has signed in.
  members: { args: ['unused', '--remove', '0'], prints: /^Deleted 0 accounts; / },
  'dead-letters': { args: ['again'], prints: /^Gave 0 back to the queues/m },
  notices: { args: ['list'], prints: /^NOTIFY_URLS has no address$/m },
  backup: { args: ['FOLDER/backup'], prints: /^Backed up [1-9]\d* events, / },
  // The disk of this machine may be nearly full.
  doctor: { args: ['FOLDER/backup'], prints: /^ok {4}backup /m, exits: [0, 1] },
  verify: { args: ['FOLDER/backup'], prints: /^Verified [1-9]\d* rows / },
  // Into an empty database: test/cli/backup.test.ts.
  restore: { args: ['FOLDER/backup', '--print-keys'], prints: /^1:[0-9a-f]{64}\n$/ },
  rebuild: { args: [], prints: /^Rebuilt every read model from [1-9]\d* events/m },
  release: {
    args: ['--grant'],
    prints: /^Granted the roles service, service_read, service_metrics$/m,
  },
  'verify-handoff': { args: HANDOFF, prints: /^Every case was found as expected/m },
};

/** Commands that start their own services, or need none. */
const ALONE: Record<string, ShortRun> = {
  demo: { args: ['--mails', '20'], prints: /^No fault\.$/m },
  bench: {
    args: ['guestbook', 'pages', '--rounds', '1', '--seconds', '0.2'],
    prints: /^POST \/api\/guestbook \/ bare Express[\s\S]*^script and style of \/ and \/notes:/m,
  },
  'bench:screening': { args: [], prints: /\d+ decisions learnt in \d+ ms$/m },
  // Needs stopped processes: test/cli/restored.test.ts.
  restored: { args: ['--help'], prints: /^Usage:\n {2}npm run restored/ },
  // A few seconds are too short to measure growth, so the run may also exit with 1.
  soak: {
    args: ['--minutes', '0.1'],
    prints: /^\d+ operations in 0\.1 minutes, \d+ refused, 0 failed$/m,
    exits: [0, 1],
  },
  proof: { args: ['--seconds', '20', '--seed', '1'], prints: /^Nothing is wrong\.$/m },
};

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Whether CI already runs a command, as a stage or as test files of this suite. */
function runsInCi(name: string): boolean {
  const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  const stages = [...ci.matchAll(/^(?:run_stages|npm run) ([^&\n]+)/gm)];
  if (stages.some(([, names]) => names?.trim().split(' ').includes(name))) return true;
  const files = / test\/run\.ts (.+)$/.exec(scripts[name] ?? '')?.[1]?.match(/test\/\S+/g) ?? [];
  return files.length > 0 && files.every((file) => globSync(file, { cwd: ROOT }).length > 0);
}

t.test('has a short run in CI for every command that the documents name', async (t) => {
  const text = [...DOCUMENTS.values()].join('\n');
  const names = [...text.matchAll(/\bnpm run\s+(?:-s\s+)?([a-z][a-z:-]*)/g)].map(
    ([, name]) => name,
  );
  t.ok(names.length > 20);
  for (const name of new Set(names)) {
    t.ok(name && scripts[name], `npm run ${name} exists`);
    if (name && !(name in ON_INSTANCE) && !(name in ALONE))
      t.ok(runsInCi(name), `npm run ${name} has a short run`);
  }
});

async function runCommand(name: string, args: string[], env: Record<string, string>) {
  const child = spawn('npm', ['run', '-s', name, '--', ...args], {
    cwd: ROOT,
    env: { ...INHERITED_ENV, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

async function check(
  t: Test,
  name: string,
  { args, prints, exits = [0] }: ShortRun,
  env: Record<string, string> = {},
) {
  const { code, stdout, stderr } = await runCommand(name, args, env);
  t.ok(code !== null && exits.includes(code), `exits with ${code}: ${stderr}`);
  t.match(stdout, prints);
  t.notMatch(stdout, /^TAP version/m, 'the output has no TAP header');
}

t.test('runs the commands of a running instance', async (t) => {
  const folder = temporaryFolder('readme-commands');
  t.teardown(folder.remove);
  const dataDir = join(folder.path, 'data');
  const instance = await startInstance({ dataDir });
  t.teardown(instance.stop);
  const env = {
    DATA_DIR: dataDir,
    BASE_URL: instance.baseUrl,
    BACKUP_PASSPHRASE: 'correct horse battery',
  };
  for (const [name, run] of Object.entries(ON_INSTANCE))
    await t.test(`npm run ${name}`, async (t) => {
      const args = run.args.map((argument) =>
        argument.replace('ADDRESS', instance.baseUrl).replace('FOLDER', folder.path),
      );
      await check(t, name, { ...run, args }, env);
    });
});

for (const [name, run] of Object.entries(ALONE))
  t.test(`npm run ${name}`, (t) => check(t, name, run));

t.test('runs the demo on PORT and DATA_DIR and refuses a used folder', async (t) => {
  const folder = temporaryFolder('readme-demo');
  t.teardown(folder.remove);
  const env = { PORT: await freePort(), DATA_DIR: join(folder.path, 'data') };
  const first = await runCommand('demo', ['--mails', '0'], env);
  t.equal(first.code, 0, first.stderr);
  t.match(first.stdout, `the service runs on http://localhost:${env.PORT}\n`);
  const second = await runCommand('demo', ['--mails', '0'], env);
  t.match(second, {
    code: 1,
    stderr: `DATA_DIR ${env.DATA_DIR} already holds data. The demo needs an empty folder.\n`,
  });
});
