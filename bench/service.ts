import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Role } from '../domain/permissions.ts';
import { freePort } from '../harness/free-port.ts';
import { INHERITED_ENV } from '../harness/inherited-env.ts';
import { readConfig } from '../platform/config.ts';
import { isRefusal } from '../platform/refusal.ts';
import { parseProcfile } from '../platform/supervisor/procfile.ts';
import { createCore } from '../services/compose.ts';
import { addModerator } from '../services/moderation/staff/moderators.ts';
import type { BenchEnvironment } from './environment.ts';
import { startServer } from './processes.ts';

const PLENTY = '1000000000';
export const ROOT = join(import.meta.dirname, '..');

/** A service under benchmark: its address, and an environment with limits too high to reach. */
export interface Service {
  base: string;
  env: Record<string, string> & { METRICS_PORT: string };
}

export async function serviceOn(setting: BenchEnvironment, url: string): Promise<Service> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: url,
    PORT: port,
    METRICS_PORT: await freePort(),
    BASE_URL: base,
    SERVER_KEYS: setting.serverKeys,
    LIMIT_KEY_ATTEMPTS: PLENTY,
    LIMIT_BOOTSTRAP_ATTEMPTS: PLENTY,
    LIMIT_REGISTRATIONS_PER_DAY: PLENTY,
    LIMIT_MEMBERS: PLENTY,
    LIMIT_WRITES_PER_DAY: PLENTY,
    LIMIT_NOTES_PER_TEN_MINUTES: PLENTY,
    LIMIT_NOTES_PER_DAY: PLENTY,
    LIMIT_GUEST_NOTES_PER_HOUR: PLENTY,
    LIMIT_REGISTRATIONS_PER_HOUR: PLENTY,
  };
  return { base, env };
}

/**
 * Starts the Procfile's web process, of this or of another checkout, waits until it is ready, and
 * returns its process id.
 */
export const startWeb = (setting: BenchEnvironment, service: Service, root = ROOT) =>
  startFromProcfile(setting, 'web', service.env, `${service.base}/readyz`, root);

/** Starts the Procfile's worker process, as `startWeb` does. */
export const startWorker = (setting: BenchEnvironment, { env }: Service, root = ROOT) =>
  startFromProcfile(
    setting,
    'worker',
    { ...env, WORKER_METRICS_PORT: env.METRICS_PORT },
    `http://127.0.0.1:${env.METRICS_PORT}/metrics`,
    root,
  );

function startFromProcfile(
  setting: BenchEnvironment,
  name: string,
  env: Record<string, string>,
  readyUrl: string,
  root: string,
): Promise<number> {
  const command = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8')).get(name) ?? '';
  const [, variables = '', args = ''] = /^((?:\w+=\S+ )*)node (.+)$/.exec(command) ?? [];
  const given = Object.fromEntries(
    variables
      .split(' ')
      .filter(Boolean)
      .map((one) => one.split('=')),
  );
  const { origin, pathname } = new URL(readyUrl);
  return startServer(setting, args.split(' '), { ...given, ...env }, origin, pathname, root);
}

/** Adds a moderator to the service. */
export async function addModerators({ env }: Service, name: string, role: Role) {
  const core = await createCore(readConfig(env), 'bench');
  try {
    const added = await addModerator(core, name, role);
    if (isRefusal(added)) throw new Error(added.refused);
    return added;
  } finally {
    await core.close();
  }
}

/** Adds so many moderators with the code of this or of another checkout, and returns their tokens. */
export async function moderatorTokens(
  { env }: Service,
  count: number,
  root = ROOT,
): Promise<string[]> {
  const args = [join(import.meta.dirname, 'add-moderators.ts'), root, String(count)];
  const options = { env: { ...INHERITED_ENV, ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout.trim().split('\n');
}
