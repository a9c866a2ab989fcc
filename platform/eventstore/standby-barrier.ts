import { Client } from '../postgres/client.ts';
import { clientConfig } from '../postgres/connection.ts';
import { OutcomeUnconfirmed, StorageUnavailable } from '../postgres/errors.ts';

export type StandbyBarrier = ReturnType<typeof createStandbyBarrier>;

/**
 * Confirms commits where synchronous standbys are configured. A commit whose answer was lost may be
 * visible on the primary although no standby has it: the server process that waited for the standby
 * was ended, or the primary was restarted. Standbys receive commits in order, so a later commit that
 * is acknowledged proves that they have it.
 *
 * Such a commit may take as long as the standbys are away and occupies a server process, so at most
 * one waits at a time.
 */
export function createStandbyBarrier(url: string) {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /** The last start of the server, in milliseconds, whose visible commits were confirmed. */
  let confirmedStart = -1;

  function start(): Promise<void> {
    const barrier = commitOnce(url).finally(() => {
      if (running === barrier) running = undefined;
    });
    // Prevents an unhandled rejection while no caller awaits the barrier.
    barrier.catch(() => undefined);
    running = barrier;
    return barrier;
  }

  /** A barrier that begins after this call; callers that find one running share the next. */
  function join(): Promise<void> {
    if (!running) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    next.catch(() => undefined);
    return next;
  }

  return {
    /**
     * Resolves once the standbys have everything that was committed before this call. Throws
     * `OutcomeUnconfirmed` at `until`, a deadline on the clock of `performance.now()`.
     */
    async confirm(until: number): Promise<void> {
      await before(until, join()).catch((cause: unknown) => {
        throw new OutcomeUnconfirmed('no standby has confirmed the commit', { cause });
      });
    },
    /**
     * Does the same for reads, once for each start of the server: commits that were waiting for a
     * standby when a server failed are visible after its restart. Throws `StorageUnavailable` at
     * `until`.
     */
    async confirmRestart(startedAt: Date, until: number): Promise<void> {
      if (confirmedStart === startedAt.getTime()) return;
      await before(until, join()).catch((cause: unknown) => {
        throw new StorageUnavailable('no standby has confirmed what is visible', { cause });
      });
      confirmedStart = startedAt.getTime();
    },
    /** Starts a barrier because a commit waits for a standby. */
    raise(): void {
      if (!running) void start();
    },
    /**
     * Resolves once no barrier is waiting. Commands call this before they begin: while the standbys
     * are away, each of them would leave a server process that waits. Throws `StorageUnavailable` at
     * `until`.
     */
    async clear(until: number): Promise<void> {
      if (!running) return;
      await before(until, running).catch((cause: unknown) => {
        throw new StorageUnavailable('commits wait for a standby', { cause });
      });
    },
    /** Whether a commit is known to wait for a standby. */
    isWaiting: (): boolean => running !== undefined,
  };
}

/** Makes a commit of its own, on a new connection, and resolves once it is acknowledged. */
async function commitOnce(url: string): Promise<void> {
  const client = new Client(clientConfig(url, 'service standby barrier'));
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query("SELECT pg_logical_emit_message(true, 'service', 'barrier')");
  } finally {
    void client.end().catch(() => undefined);
  }
}

function before<Result>(until: number, promise: Promise<Result>): Promise<Result> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const left = Math.max(0, until - performance.now());
  const timer = setTimeout(() => reject(new Error('deadline passed')), left);
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
