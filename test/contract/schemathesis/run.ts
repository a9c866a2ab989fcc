import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newIdentity, newKey } from '../../../client/identity.ts';
import { SCOPES } from '../../../domain/permissions.ts';
import { type ApiResponse, createApi } from '../../../harness/api.ts';
import { startInstance } from '../../../harness/instance.ts';
import { callUntilTaken } from '../../../harness/registration.ts';

/** Time limit of the first run in seconds. */
const BUDGET = Number(process.env.SCHEMATHESIS_SECONDS ?? '220');

/** On a slow machine, a run reaches every operation only with a higher limit. */
const MAX_BUDGET = 4 * BUDGET;

/** The exit code of the program after SIGINT. */
const INTERRUPTED = 130;

/** The seed of every run in CI, so that failures come from changes, not from chance. */
const CI_SEED = '4997718';

const folder = import.meta.dirname;
const environment = join(folder, '../../../node_modules/.cache/schemathesis');

/** Installs the program in a virtual environment with exactly the pinned packages. */
function install(): string | undefined {
  const requirements = join(folder, 'requirements.txt');
  const program = join(environment, 'bin/schemathesis');
  const installed = join(environment, 'requirements.txt');
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(program) && existsSync(installed) && readFileSync(installed, 'utf8') === wanted)
    return program;
  mkdirSync(environment, { recursive: true });
  const run = (command: string, args: string[]) =>
    spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  if (!run('python3', ['-m', 'venv', '--clear', environment])) return undefined;
  const pip = join(environment, 'bin/pip');
  if (!run(pip, ['install', '--quiet', '--disable-pip-version-check', '-r', requirements]))
    return undefined;
  writeFileSync(installed, wanted);
  return program;
}

const cookieOf = (answer: ApiResponse) =>
  /=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];

/** A member with a session and every scope, and a moderator with every right. */
async function credentials(baseUrl: string, moderatorToken: string, deciderToken: string) {
  const api = createApi(baseUrl);
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    callUntilTaken(api, 'POST', path, { body, headers });
  const member = newIdentity('property_tester');
  await post('/api/membership/register', member);
  const { id, sign_in_key } = member;
  const session = await post('/api/membership/login', { id, sign_in_key });
  const credential = {
    credential_id: crypto.randomUUID(),
    credential_secret: newKey(),
    scopes: SCOPES,
    expires_at: Math.floor(Date.now() / 1000) + 80_000,
  };
  const key = { 'idempotency-key': crypto.randomUUID() };
  await post('/api/v1/credentials', { member_id: id, sign_in_key, ...credential }, key);
  const moderation = await post('/api/moderation/session', { token: moderatorToken });
  return {
    BASE_URL: baseUrl,
    SCOPES: SCOPES.join(','),
    MEMBER_ID: id,
    MEMBER_HANDLE: member.handle,
    MEMBER_SIGN_IN_KEY: sign_in_key,
    MEMBER_BEARER: `svc_${credential.credential_id}.${credential.credential_secret}`,
    MEMBER_SESSION: cookieOf(session),
    MODERATOR_TOKEN: moderatorToken,
    DECIDER_TOKEN: deciderToken,
    MODERATOR_SESSION: cookieOf(moderation),
  };
}

/**
 * The hooks' records: responses by operation and status, and operations that succeeded as intended.
 */
interface HookRecords {
  statuses: Record<string, Record<string, number>>;
  succeeded: string[];
}

/** A tile with a number of two parts comes behind 256,000 events; test/unit/tlog has its paths. */
const NEEDS_LARGE_LOG = 'log.tile_3';

/** Prints the responses of each operation and whether each succeeded at least once. */
function judge(document: string, file: string): boolean {
  const { paths } = JSON.parse(document) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const records: HookRecords = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { statuses: {}, succeeded: [] };
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  const missed = ids.filter((id) => id !== NEEDS_LARGE_LOG && !records.succeeded.includes(id));
  console.log('\nAnswers by operation:');
  for (const id of ids) {
    const answers = Object.entries(records.statuses[id] ?? {});
    const counts = answers.map(([status, count]) => `${status}×${count}`);
    console.log(`  ${missed.includes(id) ? '❌' : '✅'} ${id}: ${counts.sort().join(' ')}`);
  }
  console.log(`${ids.length - missed.length} of ${ids.length} operations succeeded at least once.`);
  return missed.length === 0;
}

async function main(): Promise<number> {
  const program = install();
  if (!program) {
    console.error(
      'schemathesis needs python3 with venv and pip, and a registry of Python packages.',
    );
    if (process.env.CI) return 1;
    console.error('It is left out here; on CI this is a failure.');
    return 0;
  }
  const seed =
    process.env.SCHEMATHESIS_SEED ?? (process.env.CI ? CI_SEED : String(randomInt(1_000_000_000)));
  for (let budget = BUDGET; ; budget *= 2) {
    const { code, reached, seconds } = await runOnce(program, seed, budget);
    const isCut = code === INTERRUPTED || (code === 0 && !reached && seconds >= budget);
    if (!isCut || budget >= MAX_BUDGET) return code || (reached ? 0 : 1);
    console.log(`The time was too short: again with ${2 * budget} s.`);
  }
}

/** Runs the program on a new instance; returns its exit code, and whether every operation succeeded. */
async function runOnce(program: string, seed: string, budget: number) {
  const instance = await startInstance({
    settings: {
      LIMIT_WRITES_PER_DAY: '1000000',
      LIMIT_ACTIVE_CREDENTIALS: '1000000',
      LIMIT_MEMBERS: '1000000',
      LIMIT_MCP_REQUESTS: '1000000',
      UNDO_WINDOW_SECONDS: '0',
      SECURITY_CONTACT: 'mailto:security@example.org',
    },
  });
  try {
    const token = await instance.moderator('property-tester', 'lead');
    const decider = await instance.moderator('property-decider', 'lead');
    const { baseUrl } = instance;
    // Read the document from a file, since its own address would be left out of the tests.
    const document = await (await fetch(`${baseUrl}/openapi.json`)).text();
    const file = join(instance.folder, 'openapi.json');
    writeFileSync(file, document);
    const args = ['run', file, '--url', baseUrl, '--seed', seed, '--max-time', String(budget)];
    console.log(`schemathesis: seed ${seed} (again: SCHEMATHESIS_SEED=${seed})`);
    const config = ['--config-file', join(folder, 'schemathesis.toml')];
    const statuses = join(instance.folder, 'statuses.json');
    const startedAt = performance.now();
    const run = spawn(program, [...config, ...args, ...process.argv.slice(2)], {
      cwd: folder,
      env: {
        ...process.env,
        ...(await credentials(baseUrl, token, decider)),
        SEED: seed,
        STATUSES: statuses,
        PYTHONPATH: folder,
        PYTHONHASHSEED: '0',
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    // The program checks its time limit only between operations, which takes long on a busy
    // machine.
    const bound = setTimeout(() => run.kill('SIGINT'), (budget + 40) * 1000);
    const [code] = (await once(run, 'exit')) as [number | null];
    clearTimeout(bound);
    const seconds = (performance.now() - startedAt) / 1000;
    return { code, reached: judge(document, statuses), seconds };
  } finally {
    await instance.stop();
  }
}

process.exitCode = await main();
