import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UpdateEvent } from '../schema.ts';
import { type Context, Failure } from './context.ts';
import { forwardSignals } from './hold.ts';
import { plainJson, plainText } from './terminal.ts';

export interface FollowOptions {
  /** Waits for further events instead of ending after the newest one. */
  follow: boolean;
  /** Where to begin without a saved cursor. */
  from: 'start' | 'now';
  /** A shell command for each event, which gets it as JSON on its standard input. */
  exec?: string | undefined;
  /** A URL that each event is posted to. */
  forwardTo?: string | undefined;
  /** Milliseconds within which the receiver must answer. */
  timeout: number;
  types?: readonly string[] | undefined;
  /** The name of the cursor, so that several followers have one each. */
  name: string;
}

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;

/**
 * Hands each event to a command, a URL or the standard output: in order, and again until it is accepted. What was
 * handled is saved after each event, so that at most one event is handed over twice after a crash.
 */
export async function followUpdates(context: Context, options: FollowOptions): Promise<void> {
  const { store } = context;
  const name = `cursor-${options.name}`;
  if (!store.holdUntilExit(name))
    throw new Failure(`Another process follows the updates '${options.name}'`);
  let progress = store.progress(name);
  const save = (next: typeof progress) => {
    store.saveProgress(name, next);
    progress = next;
  };
  let signalled: NodeJS.Signals | undefined;
  const handle = handlerOf(context, options, (signal) => {
    signalled = signal;
  });

  const updates = context.client().updates({
    ...(progress.cursor === null ? {} : { cursor: progress.cursor }),
    ...(options.from === 'now' ? { start: 'now' as const } : {}),
    ...(options.types ? { types: options.types } : {}),
    untilNow: !options.follow,
    async save(events, cursor) {
      for (const event of events) {
        if (event.sequence <= progress.through) continue;
        await handle(event);
        save({ ...progress, through: event.sequence });
        if (signalled) endBy(signalled);
      }
      save({ ...progress, cursor });
    },
    onReset({ keptThrough, cursor }) {
      console.error(`The service was restored: event ${keptThrough} is the last that was kept`);
      save({ cursor, through: Math.min(progress.through, keptThrough) });
    },
  });
  for await (const _ of updates) {
    // `save` has handled it.
  }
}

type Handler = (event: UpdateEvent) => Promise<void>;

function handlerOf(
  { json }: Context,
  { exec, forwardTo, timeout }: FollowOptions,
  onSignal: (signal: NodeJS.Signals) => void,
): Handler {
  if (exec !== undefined) return (event) => untilAccepted(() => runCommand(exec, event, onSignal));
  if (forwardTo !== undefined)
    return (event) => untilAccepted(() => post(forwardTo, event, timeout));
  return (event) => {
    const { sequence, type, subject } = event;
    const words = `${sequence} ${type} ${subject.type} ${subject.id}`;
    return print(json ? plainJson(event) : plainText(words));
  };
}

/** Prints a line. Fails if its reader has gone, so that the event is printed again by the next run. */
const print = (line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });

/** Tries until there is no refusal, after pauses that double. */
async function untilAccepted(attempt: () => Promise<string | undefined>): Promise<void> {
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    const refusal = await attempt();
    if (refusal === undefined) return;
    console.error(`${refusal}, retrying in ${delay / 1000} s`);
    await sleep(delay);
  }
}

/** Runs a command, and passes signals on to it: `onSignal` is called where it succeeds after one. */
async function runCommand(
  command: string,
  event: UpdateEvent,
  onSignal: (signal: NodeJS.Signals) => void,
): Promise<string | undefined> {
  // Before the command starts: the next run must not meet a command that still works on the event.
  const forwarding = forwardSignals((signal) => child.kill(signal));
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: {
      ...process.env,
      SVC_EVENT_ID: event.id,
      SVC_EVENT_TYPE: event.type,
      SVC_SUBJECT_TYPE: event.subject.type,
      SVC_SUBJECT_ID: event.subject.id,
    },
  });
  // The command need not read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(event)}\n`);
  const [code, signal] = await once(child, 'exit').finally(forwarding.stop);
  const received = forwarding.received();
  if (received && code === 0) onSignal(received);
  else if (received) endBy(received);
  return code === 0 ? undefined : `The command ended with ${signal ?? code}`;
}

/** Ends this process as a signal does that nothing handles. */
function endBy(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal);
}

async function post(url: string, event: UpdateEvent, timeout: number) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': event.id },
      body: JSON.stringify(event),
      // A receiver that is elsewhere now has not got the event.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `The receiver answered ${response.status}`;
  } catch {
    return 'The receiver did not answer';
  }
}
