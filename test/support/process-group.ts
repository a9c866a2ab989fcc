import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { signalGroup } from '../../platform/supervisor/signal-group.ts';

type Options = {
  env?: NodeJS.ProcessEnv;
  /** Silent for longer, it is taken for hung, and ended. */
  silenceMs: number;
  line(text: string): void;
};

/**
 * A program with all that it starts: what it leaves behind ends with it, and would hold its output
 * open. `ended` answers its exit status, null where a signal ended it.
 */
export function startGroup(command: string, args: string[], { env, silenceMs, line }: Options) {
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
