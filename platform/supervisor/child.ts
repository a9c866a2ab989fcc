import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

type End = {
  readonly ok: boolean;
  readonly how: string;
  /** The exit status, if it ended with one. */
  readonly status?: number | null;
};
export type Child = {
  readonly label: string;
  /** Resolves when the child sends its first IPC message. */
  readonly reported: Promise<void>;
  readonly ended: Promise<End>;
  /** Sends SIGTERM, and SIGKILL after `patienceMs` milliseconds. */
  stop(patienceMs: number): Promise<End>;
};

/** Starts a command of the Procfile and passes each line of its output to `print`. */
export function startChild(
  label: string,
  command: string,
  env: NodeJS.ProcessEnv,
  print: (label: string, line: string) => void,
): Child {
  // `exec`, so that signals reach the program; `env`, so that NAME=value may precede it;
  // `detached`, so that Ctrl-C reaches only the supervisor, which stops the processes in order.
  const child = spawn('/bin/sh', ['-c', `exec env ${command}`], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on('line', (line) => print(label, line));

  const reported = new Promise<void>((resolve) => child.once('message', () => resolve()));
  let stopping = false;
  let killed = false;
  let gone = false;
  const send = (signal: NodeJS.Signals) => {
    if (!gone) signalGroup(child, signal);
  };

  const ended = new Promise<End>((resolve) => {
    child.once('error', (error) => resolve({ ok: false, how: error.message }));
    child.once('exit', () => {
      send('SIGKILL'); // ends leftover descendants, which would keep the output open
      gone = true;
    });
    child.once('close', (code, signal) => {
      const ok = code === 0 || (stopping && !killed && signal === 'SIGTERM');
      resolve({
        ok,
        status: code,
        how: signal ? howSignalled(signal, killed) : `exit status ${code}`,
      });
    });
  });

  return {
    label,
    reported,
    ended,
    async stop(patienceMs) {
      stopping = true;
      send('SIGTERM');
      const timer = setTimeout(() => {
        killed = true;
        send('SIGKILL');
      }, patienceMs);
      const end = await ended;
      clearTimeout(timer);
      return end;
    },
  };
}

/** The kernel says nothing to a process that it ends, so the supervisor names the usual cause. */
function howSignalled(signal: NodeJS.Signals, killed: boolean): string {
  if (killed) return `ended by ${signal}, because it did not stop in time`;
  return signal === 'SIGKILL'
    ? 'ended by SIGKILL, which the kernel sends where memory runs out'
    : `ended by ${signal}`;
}

/** Signals every remaining process in the group of a child that was started `detached`. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

type Colour = Parameters<typeof styleText>[0];
const COLOURS: readonly Colour[] = ['cyan', 'green', 'magenta', 'yellow', 'blue'];

/** Returns a printer that prefixes lines with the name of their process, coloured on a terminal. */
export function labelledLog(out: NodeJS.WriteStream): (label: string, line: string) => void {
  const seen: string[] = [];
  // The terminal may close first, but the processes must still be stopped in order.
  out.on('error', () => undefined);
  return (label, line) => {
    if (!seen.includes(label)) seen.push(label);
    const prefix = `${label.padEnd(8)} |`;
    const colour = COLOURS[seen.indexOf(label) % COLOURS.length] ?? 'white';
    out.write(`${out.isTTY ? styleText(colour, prefix) : prefix} ${line}\n`);
  };
}

/** Sends a message to the supervisor, if this process has one. */
export function tellParent(message: string): void {
  // Ignore errors: the parent may have exited.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/**
 * Calls `stop` when the supervisor ends. A killed supervisor cannot stop its children, but they
 * notice that its IPC channel closes.
 */
export function onParentGone(stop: () => void): void {
  if (!process.send) return;
  if (!process.connected) {
    queueMicrotask(stop);
    return;
  }
  process.once('disconnect', stop);
  process.channel?.unref(); // the listener must not keep a finished process alive
}
