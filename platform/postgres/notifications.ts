import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Client, destroyConnection } from './client.ts';
import { backendPid, clientConfig } from './connection.ts';

const CHANNEL = 'wake_ups';
const EVERYTHING = '*';
const GATHER_MS = 10;
// With the batching delay and the listener's own query, a lost hint costs less than two seconds.
const POLL_MS = 1800;
const HEARTBEAT_MS = 15_000;
const CLOSING_MS = 1000;
/** PostgreSQL limits a payload to less than 8000 bytes. */
const PAYLOAD_BYTES = 7900;
const MAX_TOPICS = 5000;

/**
 * Hints after a COMMIT that something happened under a topic: delivered to this process directly
 * and to other processes by NOTIFY. A hint may be lost or repeated, so a listener must query the
 * state itself; unless it says otherwise, it is called at least every two seconds in any case.
 */
export interface Notifications {
  /** Sends a hint for each topic. Never blocks and never throws. */
  wake(topics: Iterable<string>): void;
  /**
   * Calls `listener`, which must not throw, until the returned function is called; not `polled`, only for hints,
   * where something else looks at the state now and then.
   */
  subscribe(topic: string, listener: () => void, polled?: boolean): () => void;
  /** Sends the gathered hints, within a second, and closes the connection. */
  close(): Promise<void>;
}

/**
 * Creates the wake-ups of one process: one connection for both directions, which bypasses any
 * pooler and opens on first use. NOTIFY takes a cluster-wide lock at COMMIT, so it never runs in a
 * command's transaction, and at most once every ten milliseconds.
 */
export function createNotifications(
  url: string,
  application: string,
  pollMs = POLL_MS,
): Notifications {
  const listeners = new Map<string, Set<() => void>>();
  const ending = new AbortController();
  let fresh = new Set<string>();
  let unsent = new Set<string>();
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sending = false;
  let running: Promise<void> | undefined;
  let drained: () => void = () => undefined;

  function deliver(topics: Iterable<string>): void {
    for (const topic of topics) {
      const called = topic === EVERYTHING ? [...listeners.values()] : [listeners.get(topic) ?? []];
      for (const some of called) for (const listener of [...some]) listener();
    }
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), GATHER_MS);
  }

  async function flush(): Promise<void> {
    timer = undefined;
    const topics = fresh;
    fresh = new Set();
    unsent = bounded([...unsent, ...topics]);
    deliver(topics);
    if (sending || !client || unsent.size === 0) return;
    const sent = unsent;
    unsent = new Set();
    sending = true;
    const through = client;
    try {
      await through.query(
        `SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) payload`,
        [payloadsOf(sent)],
      );
    } catch {
      unsent = bounded([...sent, ...unsent]);
      destroyConnection(through);
    }
    sending = false;
    if (fresh.size + unsent.size === 0) drained();
    else schedule();
  }

  async function run(): Promise<void> {
    for (let delay = 50; !ending.signal.aborted; delay = Math.min(2 * delay, POLL_MS)) {
      const connection = await connect(url, application, ending.signal, deliver).catch(
        () => undefined,
      );
      if (connection && !ending.signal.aborted) {
        delay = 50;
        client = connection.client;
        // Hints that were sent while this process did not listen are lost.
        deliver([EVERYTHING]);
        schedule();
        await connection.over;
        client = undefined;
      }
      connection?.close();
      await sleep(delay, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  return {
    wake(topics) {
      if (ending.signal.aborted) return;
      for (const topic of topics) fresh.add(topic);
      if (fresh.size === 0) return;
      if (fresh.size > MAX_TOPICS) fresh = new Set([EVERYTHING]);
      running ??= run();
      schedule();
    },

    subscribe(topic, listener, polled = true) {
      running ??= run();
      const mine = () => listener();
      const some = listeners.get(topic) ?? new Set();
      listeners.set(topic, some.add(mine));
      const poll = polled ? setInterval(mine, pollMs).unref() : undefined;
      return () => {
        clearInterval(poll);
        some.delete(mine);
        if (some.size === 0 && listeners.get(topic) === some) listeners.delete(topic);
      };
    },

    async close() {
      if (sending || fresh.size + unsent.size > 0) {
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, CLOSING_MS);
          drained = () => {
            clearTimeout(late);
            resolve();
          };
        });
      }
      ending.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

async function connect(
  url: string,
  application: string,
  ending: AbortSignal,
  deliver: (topics: string[]) => void,
): Promise<{ client: pg.Client; over: Promise<unknown>; close: () => void }> {
  const client = new Client({
    ...clientConfig(url, `${application} wake-ups`),
    query_timeout: 3000,
  });
  const giveUp = () => destroyConnection(client);
  ending.addEventListener('abort', giveUp);
  const over = once(client, 'end', { signal: ending }).catch(() => undefined);
  client.on('error', giveUp);
  client.on('notification', ({ processId, payload = '' }) => {
    // `flush` has already called this process's own listeners.
    if (processId !== backendPid(client)) deliver(payload.split(','));
  });
  try {
    await client.connect();
    // A hint that is lost when the database crashes is not worth a flush to disk.
    await client.query('SET synchronous_commit = off');
    await client.query(`LISTEN ${CHANNEL}`);
  } catch (error) {
    destroyConnection(client);
    throw error;
  } finally {
    ending.removeEventListener('abort', giveUp);
  }
  // The heartbeat detects a connection that broke silently.
  const heartbeat = setInterval(() => {
    client.query('SELECT 1').catch(giveUp);
  }, HEARTBEAT_MS).unref();
  const close = () => {
    clearInterval(heartbeat);
    client.end().catch(() => undefined);
  };
  return { client, over, close };
}

/** Beyond `MAX_TOPICS` topics it is cheaper to wake every listener. */
function bounded(topics: readonly string[]): Set<string> {
  const some = new Set(topics);
  return some.size > MAX_TOPICS ? new Set([EVERYTHING]) : some;
}

function payloadsOf(topics: Iterable<string>): string[] {
  const payloads: string[] = [];
  let bytes = Infinity;
  for (const topic of topics) {
    const more = Buffer.byteLength(topic) + 1;
    if (bytes + more <= PAYLOAD_BYTES) {
      payloads.push(`${payloads.pop()},${topic}`);
      bytes += more;
    } else {
      payloads.push(topic);
      bytes = more;
    }
  }
  return payloads;
}
