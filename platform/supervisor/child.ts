import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { signalGroup } from './signal-group.ts';

type End = { readonly ok: boolean; readonly how: string };
export type Child = {
  readonly label: string;
  /** Once it sent word over its channel. */
  readonly told: Promise<void>;
  readonly ended: Promise<End>;
  stop(patienceMs: number): Promise<End>;
};

export function startChild(
  label: string,
  command: string,
  env: NodeJS.ProcessEnv,
  print: (label: string, line: string) => void,
): Child {
  // `exec`, so that signals reach the program; `env`, so that NAME=value may stand before it; a group
  // of its own, so that Ctrl-C reaches the supervisor alone and everything ends in order.
  const child = spawn('/bin/sh', ['-c', `exec env ${command}`], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on('line', (line) => print(label, line));

  const told = new Promise<void>((resolve) => child.once('message', () => resolve()));
  let stopping = false;
  let killed = false;
  let gone = false;
  const send = (signal: NodeJS.Signals) => {
    if (!gone) signalGroup(child, signal);
  };

  const ended = new Promise<End>((resolve) => {
    child.once('error', (error) => resolve({ ok: false, how: error.message }));
    child.once('exit', () => {
      send('SIGKILL'); // what a process leaves behind ends with it, and would hold its output open
      gone = true;
    });
    child.once('close', (code, signal) => {
      const ok = code === 0 || (stopping && !killed && signal === 'SIGTERM');
      const late = killed ? ', because it did not stop in time' : '';
      resolve({ ok, how: signal ? `ended by ${signal}${late}` : `exit status ${code}` });
    });
  });

  return {
    label,
    told,
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
