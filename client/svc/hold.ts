import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { NoAnswerError, ProblemError } from '../send.ts';
import { EXIT } from './context.ts';
import { plainText } from './terminal.ts';

interface Claimed {
  id: string;
  version: number;
  claim: { member_id: string } | null;
}

/**
 * Runs a command while the lease of a claimed case is kept. Returns the exit code of the command, 128 and the
 * number of the signal that ended it, or `leaseLost` after the lease could not be extended and the command was
 * ended. A command that fails gives the case back.
 */
export async function holdWhile(
  client: Client,
  claimed: Claimed,
  { leaseSeconds, extendEvery }: { leaseSeconds: number; extendEvery: number },
  [program = '', ...args]: readonly string[],
): Promise<number> {
  // Before the command starts: a signal must not end this process and leave the command without a lease.
  const forwarding = forwardSignals((signal) => child.kill(signal));
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, SVC_CASE_ID: claimed.id },
  });
  const ended = new AbortController();
  let { version } = claimed;
  let lost: unknown;

  /** Sends a write with the version of the case, which a moderator may have changed meanwhile. */
  async function atVersion<Reply>(send: (expected: number) => Promise<Reply>): Promise<Reply> {
    try {
      return await send(version);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.reason !== 'version_mismatch') throw error;
      const { case: present } = await client.cases.get(claimed.id);
      if (present.claim?.member_id !== claimed.claim?.member_id) throw error;
      return send(present.version);
    }
  }

  async function extend(): Promise<void> {
    while (!ended.signal.aborted) {
      await sleep(extendEvery * 1000, undefined, { signal: ended.signal });
      const { case: extended } = await atVersion((expected_version) =>
        client.cases.claim(
          claimed.id,
          { expected_version, lease_seconds: leaseSeconds },
          { signal: ended.signal },
        ),
      );
      version = extended.version;
    }
  }
  const extending = extend().catch((error: unknown) => {
    if (ended.signal.aborted) return;
    lost = error;
    child.kill('SIGTERM');
  });

  const [code, signal] = await once(child, 'exit').catch((error: NodeJS.ErrnoException) => {
    console.error(plainText(`Cannot run ${program}: ${error.code}`));
    return [127, null];
  });
  ended.abort();
  await extending;
  forwarding.stop();
  if (lost) {
    console.error(plainText(`The lease was lost: ${(lost as Error).message}`));
    return EXIT.leaseLost;
  }
  if (code === 0) return EXIT.done;
  await atVersion((expected_version) =>
    client.cases.release(claimed.id, { expected_version }),
  ).catch((error: unknown) => {
    if (!(error instanceof ProblemError || error instanceof NoAnswerError)) throw error;
    console.error(plainText(`The case could not be given back: ${error.message}`));
  });
  return signal ? 128 + constants.signals[signal as NodeJS.Signals] : code;
}

/**
 * Passes signals on to a command until `stop`; `received` is the last one. To be called before the command starts. A
 * terminal sends SIGINT to the command as well.
 */
export function forwardSignals(forward: (signal: NodeJS.Signals) => void) {
  const signals: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGINT'];
  let received: NodeJS.Signals | undefined;
  const pass = (signal: NodeJS.Signals) => {
    received = signal;
    if (signal !== 'SIGINT' || !process.stdin.isTTY) forward(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  return {
    received: () => received,
    stop: () => {
      for (const signal of signals) process.off(signal, pass);
    },
  };
}
