import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { testDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Finds a loopback port whose successor is free as well, for two instances of one process. */
async function twoFreePorts(): Promise<[number, number]> {
  for (;;) {
    const first = Number(await freePort());
    const socket = connect(first + 1, '127.0.0.1');
    const taken = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (!taken) return [first, first + 1];
  }
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/**
 * Starts the Procfile as `npm start -- web=2 worker=2` does, on an empty database of a running
 * PostgreSQL, behind a proxy that will listen on `proxyPort`.
 */
export async function startFleet(t: Test, proxyPort: string, settings: Record<string, string>) {
  const { url, pool } = await testDatabase(t, { empty: true });
  const [ports, metricsPorts] = [await twoFreePorts(), await twoFreePorts()];
  const env = {
    ...INHERITED_ENV,
    DATABASE_URL: url,
    SERVER_KEYS: `1:${'5e'.repeat(32)}`,
    BASE_URL: `http://localhost:${proxyPort}`,
    PORT: String(ports[0]),
    METRICS_PORT: String(metricsPorts[0]),
    TRUSTED_PROXIES: '1',
    ...settings,
  };
  const child = spawn(process.execPath, ['services/start.ts', 'web=2', 'worker=2'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const log: string[] = [];
  const ended = once(child, 'exit');
  const ready = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    log.push(line);
    if (line.includes('Ready: ')) ready.resolve();
  });
  void ended.then(() => ready.reject(new Error(`the fleet ended:\n${log.join('\n')}`)));
  // Registered after the database's, so it runs before the database is dropped.
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
  });
  await ready.promise;

  /** Runs a command of the operator; resolves to its standard output, rejects unless it exits with 0. */
  async function operate(script: string, args: string[], more: Record<string, string> = {}) {
    const command = spawn(process.execPath, [`cli/${script}.ts`, ...args], {
      cwd: ROOT,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors] = ['', ''];
    command.stdout.on('data', (chunk) => {
      output += chunk;
    });
    command.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const [code] = await once(command, 'close');
    if (code !== 0) throw new Error(`${script} ${args.join(' ')} exited with ${code}: ${errors}`);
    return output;
  }

  return { pool, ports, metricsPorts, log, operate };
}
