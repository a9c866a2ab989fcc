import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { INHERITED_ENV } from '../harness/inherited-env.ts';
import type { BenchEnvironment } from './environment.ts';

/** A busy machine may need long to start a process. */
const PATIENCE_MS = 120_000;

/** Starts a server process, waits until `path` at `base` answers 200, and returns its pid. */
export async function startServer(
  setting: BenchEnvironment,
  args: readonly string[],
  env: Record<string, string>,
  base: string,
  path: string,
  cwd?: string,
  program = process.execPath,
): Promise<number> {
  const child = spawn(program, [...args], {
    cwd,
    env: { ...INHERITED_ENV, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  setting.onEnd(async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(late);
  });
  for (const late = Date.now() + PATIENCE_MS; Date.now() < late && child.exitCode === null; ) {
    const answer = await fetch(`${base}${path}`).catch(() => undefined);
    if (answer?.status === 200) return child.pid ?? 0;
    await sleep(50);
  }
  const how = child.exitCode === null ? 'in time' : `and ended with ${child.exitCode}`;
  throw new Error(`${args[0]} did not become ready ${how}`);
}
