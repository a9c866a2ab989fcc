import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

export const { scripts: SCRIPTS } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as { scripts: Record<string, string> };

const REPEATS = 4;

export interface ShortRun {
  args: string[];
  /** A line of the output that only a complete run prints. */
  prints: RegExp;
  /** Accepted exit statuses; by default only 0. */
  exits?: readonly number[];
  /** The error of a run that a busy machine has spoilt; it is repeated. */
  spoilt?: RegExp;
  /** Runs npm. Its start costs as much as that of most commands, so the others run in the shell that npm would start. */
  byNpm?: boolean;
}

const HANDOFF = ['examples/handoff/packet.json', '--root', 'examples/handoff/fixture'];

/** Commands that run on one instance, in this order; FOLDER and ADDRESS are replaced. */
export const ON_INSTANCE: Record<string, ShortRun> = {
  moderator: {
    byNpm: true,
    args: ['add', 'grace', '--role', 'moderator'],
    prints: /^Added grace \(moderator, \S+\)[\s\S]*\nmod_\S+\n$/,
  },
  agent: { args: ['ADDRESS/', 'FOLDER/agent', '--until-now'], prints: /^1 member\.registered /m },
  keys: { args: ['status'], prints: /^1\tnewest\t\d/m },
  // The agent of the command before has signed in.
  members: { args: ['unused', '--remove', '0'], prints: /^Deleted 0 accounts; / },
  'dead-letters': { args: ['again'], prints: /^Gave 0 back to the queues/m },
  notices: { args: ['list'], prints: /^NOTIFY_URLS has no address$/m },
  import: {
    args: ['--from', 'isso', 'test/cli/exports/isso-generic.json'],
    prints: /^Import \S+:\n {2}waiting for review: 2$/m,
  },
  'export-public': { args: ['FOLDER/public'], prints: /^Exported 0 notes, 0 packets, / },
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
export const ALONE = {
  // `npm ci` has run it before, so nothing is left to do.
  postinstall: { byNpm: true, args: [], prints: /^$/ },
  demo: { args: ['--mails', '20'], prints: /^No fault\.$/m },
  bench: {
    args: ['guestbook', 'pages', '--rounds', '1', '--seconds', '0.2'],
    spoilt: / refused with 503, 0 failed/,
    prints: /^POST \/api\/guestbook \/ bare Express[\s\S]*^script and style of \/ and \/notes:/m,
  },
  'bench:screening': { args: ['--every', '20'], prints: /\d+ decisions learnt in \d+ ms$/m },
  // Write into the repository; test/process/other-nodes.test.ts builds.
  build: { args: ['--help'], prints: /^Usage:\n {2}npm run build/ },
  generate: { args: ['--help'], prints: /^Usage:\n {2}npm run generate/ },
  sbom: { args: [], prints: /"bomFormat": "CycloneDX"/ },
  // Needs stopped processes: test/cli/restored.test.ts.
  restored: { args: ['--help'], prints: /^Usage:\n {2}npm run restored/ },
  // A few seconds are too short to measure growth, so the run may also exit with 1.
  soak: {
    args: ['--minutes', '0.1'],
    prints: /^\d+ operations in 0\.1 minutes, \d+ refused, 0 failed$/m,
    exits: [0, 1],
  },
  // With a sealed log: test/contract/sealed-log.test.ts.
  'verify-log': { args: ['--help'], prints: /^Usage:\n {2}npm run verify-log/ },
  // Needs a cluster; test/store/cluster.test.ts has what needs none.
  'proof:cluster': { args: ['--help'], prints: /^Usage:\n {2}npm run proof:cluster/ },
  proof: { args: ['--seconds', '10', '--seed', '1'], prints: /^Nothing is wrong\.$/m },
} satisfies Record<string, ShortRun>;

/** Runs what `npm run NAME -- ARGS` runs, or with `byNpm` that; returns its exit status and output. */
export async function runCommand(
  name: string,
  args: string[],
  env: Record<string, string>,
  { byNpm = false } = {},
) {
  const [program, words] = byNpm
    ? ['npm', ['run', '-s', name, '--']]
    : ['sh', ['-c', `${SCRIPTS[name]} "$@"`, name]];
  const programs = byNpm ? [] : [join(ROOT, 'node_modules/.bin')];
  const child = spawn(program, [...words, ...args], {
    cwd: ROOT,
    env: {
      ...INHERITED_ENV,
      PATH: [...programs, INHERITED_ENV.PATH].join(delimiter),
      HOME: process.env.HOME,
      ...env,
    },
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

export async function checkCommand(
  t: Test,
  name: string,
  { args, prints, exits = [0], spoilt, byNpm = false }: ShortRun,
  env: Record<string, string> = {},
) {
  let run = await runCommand(name, args, env, { byNpm });
  for (let left = REPEATS; left > 0 && spoilt?.test(run.stderr); left--)
    run = await runCommand(name, args, env, { byNpm });
  const { code, stdout, stderr } = run;
  t.ok(code !== null && exits.includes(code), `exits with ${code}: ${stderr || stdout}`);
  t.match(stdout, prints);
  t.notMatch(stdout, /^TAP version/m, 'the output has no TAP header');
  return { stdout };
}
