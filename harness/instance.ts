import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { temporaryFolder } from './temporary-folder.ts';

const at = (file: string) => join(import.meta.dirname, '..', file);

export type Instance = Awaited<ReturnType<typeof startInstance>>;

export interface InstanceOptions {
  /** Additional environment variables for the service. */
  settings?: Record<string, string>;
  /** Default: a free port. */
  port?: string | undefined;
  /** Data folder, which is kept. Default: a temporary folder, removed when the service stops. */
  dataDir?: string | undefined;
}

/** Starts the whole service as `npm start` does, with embedded PostgreSQL and high limits. */
export async function startInstance({ settings, port: givenPort, dataDir }: InstanceOptions = {}) {
  const { path: folder, remove } = dataDir
    ? { path: dataDir, remove: () => undefined }
    : temporaryFolder('service-demo');
  const port = givenPort ?? (await freePort());
  const env = {
    ...process.env,
    DATA_DIR: folder,
    DATABASE_URL: '',
    BASE_URL: '',
    PORT: port,
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    LIMIT_NOTES_PER_TEN_MINUTES: '1000000',
    LIMIT_NOTES_PER_DAY: '1000000',
    LIMIT_GUEST_NOTES_PER_HOUR: '1000000',
    LIMIT_REGISTRATIONS_PER_HOUR: '1000000',
    LIMIT_KEY_ATTEMPTS: '1000000',
    LIMIT_BOOTSTRAP_ATTEMPTS: '1000000',
    LIMIT_REGISTRATIONS_PER_DAY: '1000000',
    ...settings,
  };
  const child = spawn(process.execPath, [at('services/start.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
    remove();
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(process.exitCode ?? 1)));

  const baseUrl = `http://localhost:${port}`;
  const said: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said.push(chunk.toString());
      if (said.join('').includes(`${baseUrl}\n`)) resolve();
    });
    void ended.then(() => reject(new Error(`The service did not start:\n${said.join('')}`)));
  });
  await ready.catch((error) => {
    remove();
    throw error;
  });

  /** Adds a moderator and returns the token. */
  async function moderator(name: string, role: string): Promise<string> {
    const args = [at('cli/moderator.ts'), 'add', name, '--role', role];
    const add = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    add.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await once(add, 'close');
    return output.trim().split('\n').at(-1) ?? '';
  }

  return { baseUrl, moderator, stop, ended, folder };
}
