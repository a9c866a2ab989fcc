import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Service } from './service.ts';

/** Runs `npm run moderator -- …` as a separate process, with `typed` as lines on stdin. */
export async function runModeratorCommand(
  env: Record<string, string>,
  args: string[],
  typed: string[] = [],
) {
  const child = spawn(process.execPath, ['cli/moderator.ts', ...args], {
    // Without the test runner's loader, which costs each process seconds.
    env: { ...process.env, NODE_OPTIONS: '', MODERATOR_TOKEN: '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined).end(typed.map((line) => `${line}\n`).join(''));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export const clientEnv = (service: Service, token: string) => ({
  BASE_URL: service.baseUrl,
  MODERATOR_TOKEN: token,
});

export function operatorEnv(service: Service) {
  const [key] = service.core.config.serverKeys ?? [];
  return {
    DATABASE_URL: service.database.url,
    SERVER_KEYS: `${key?.id}:${Buffer.from(key?.secret ?? '').toString('hex')}`,
  };
}
