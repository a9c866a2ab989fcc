import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { NoAnswerError, ProblemError } from '../send.ts';
import { EXIT } from './context.ts';

/**
 * Runs a command while the lease of a claimed case is kept. Returns the exit code of the command, or `leaseLost`
 * after the lease could not be extended and the command was ended. A command that fails gives the case back.
 */
export async function holdWhile(
  client: Client,
  claimed: { id: string; version: number },
  { leaseSeconds, extendEvery }: { leaseSeconds: number; extendEvery: number },
  [program = '', ...args]: readonly string[],
): Promise<number> {
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, SVC_CASE_ID: claimed.id },
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  const ended = new AbortController();
  let { version } = claimed;
  let lost: unknown;

  async function extend(): Promise<void> {
    for (;;) {
      await sleep(extendEvery * 1000, undefined, { signal: ended.signal });
      const body = { expected_version: version, lease_seconds: leaseSeconds };
      const { case: extended } = await client.cases.claim(claimed.id, body, {
        signal: ended.signal,
      });
      version = extended.version;
    }
  }
  const extending = extend().catch((error: unknown) => {
    if (ended.signal.aborted) return;
    lost = error;
    child.kill('SIGTERM');
  });

  const [code, signal] = await once(child, 'exit').catch((error: NodeJS.ErrnoException) => {
    console.error(`Cannot run ${program}: ${error.code}`);
    return [127, null];
  });
  ended.abort();
  await extending;
  process.off('SIGINT', forward).off('SIGTERM', forward);
  if (lost) {
    console.error(`The lease was lost: ${(lost as Error).message}`);
    return EXIT.leaseLost;
  }
  if (code === 0) return EXIT.done;
  await client.cases.release(claimed.id, { expected_version: version }).catch((error: unknown) => {
    if (!(error instanceof ProblemError || error instanceof NoAnswerError)) throw error;
    console.error(`The case could not be given back: ${error.message}`);
  });
  return signal ? EXIT.failed : code;
}
