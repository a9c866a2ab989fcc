import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { signalGroup } from '../../platform/supervisor/signal-group.ts';

type Options = {
  env?: NodeJS.ProcessEnv;
  /** After this time without output, the group counts as hung and is killed. */
  silenceMs: number;
  line(text: string): void;
};

/**
 * Starts a program in a process group, which is killed when the program exits: leftover children
 * would hold its output open. `ended` resolves to the exit status, or null after a signal.
 */
export function startProcessGroup(
  command: string,
  args: string[],
  { env, silenceMs, line }: Options,
) {
  const leader: ChildProcess = spawn(command, args, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const send = (signal: NodeJS.Signals) => signalGroup(leader, signal);
  leader.once('exit', () => send('SIGKILL'));

  const silence = setTimeout(() => {
    line(`Silent for ${silenceMs / 1000} seconds: ended`);
    send('SIGKILL');
  }, silenceMs);
  if (leader.stdout)
    createInterface({ input: leader.stdout }).on('line', (text) => {
      silence.refresh();
      line(text);
    });
  const closed = once(leader, 'close') as Promise<[number | null]>;
  const ended = closed.then(([code]) => code).finally(() => clearTimeout(silence));

  return {
    ended,
    stop(signal: NodeJS.Signals): void {
      send(signal);
      setTimeout(() => send('SIGKILL'), 10_000).unref();
    },
  };
}
