import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createCoalescer } from '../../platform/postgres/coalescer.ts';
import type { Notifications } from '../../platform/postgres/notifications.ts';
import { query } from '../../platform/postgres/query.ts';
import { withDeadline } from '../../platform/postgres/request-deadline.ts';
import { readHeads } from '../../projections/updates/feed-page.ts';

const GATHER_MS = 5;

interface Waiter {
  memberId: string;
  /** The last sequence that the client has seen. */
  seen: number;
  /** Whether a wake-up has arrived since the last query. */
  hinted: boolean;
  wake(): void;
}

export type UpdatesWaiting = ReturnType<typeof createUpdatesWaiting>;

/**
 * Long polls for a member's next event. A waiting request holds no database connection: a wake-up
 * marks the request, and one query at a time reads the newest sequences of all marked members.
 */
export function createUpdatesWaiting(pool: pg.Pool, wakeUps: Notifications) {
  const waiters = new Set<Waiter>();
  const looks = createCoalescer<void>();
  let closed = false;

  // A separate deadline: the query serves all marked requests, not only the first one.
  const heads = (members: readonly string[]) => withDeadline(() => query(pool, readHeads(members)));

  function hint(waiter: Waiter): void {
    waiter.hinted = true;
    void looks('heads', look);
  }

  async function look(): Promise<void> {
    await sleep(GATHER_MS);
    const hinted = [...waiters].filter((waiter) => waiter.hinted);
    if (hinted.length === 0) return;
    for (const waiter of hinted) waiter.hinted = false;
    const members = [...new Set(hinted.map((waiter) => waiter.memberId))];
    // If the database does not respond, the next poll of `Notifications` retries within two seconds.
    const rows = await heads(members).catch(() => []);
    const newest = new Map(rows.map((row) => [row.member_id, row.sequence]));
    for (const waiter of hinted)
      if ((newest.get(waiter.memberId) ?? 0) > waiter.seen) waiter.wake();
  }

  /**
   * Subscribes to wake-ups; call it before the first read, so that no event is missed. `more`
   * resolves on an event after `seen`, after `seconds`, on disconnect or shutdown.
   */
  function listen(memberId: string) {
    // Between two calls of `more`, it notes hints: the caller's read may have missed the event.
    const waiter: Waiter = { memberId, seen: Infinity, hinted: false, wake: () => undefined };
    const stop = wakeUps.subscribe(memberId, () => hint(waiter));

    async function more(seen: number, seconds: number, gone: AbortSignal): Promise<void> {
      if (closed || gone.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => resolve();
      Object.assign(waiter, { seen, wake });
      waiters.add(waiter);
      const timer = setTimeout(wake, seconds * 1000);
      gone.addEventListener('abort', wake);
      if (waiter.hinted) hint(waiter);
      await promise;
      gone.removeEventListener('abort', wake);
      clearTimeout(timer);
      waiters.delete(waiter);
    }

    return { more, stop };
  }

  return {
    listen,
    /** Wakes all waiting requests, for shutdown; later requests do not wait. */
    close(): void {
      closed = true;
      for (const waiter of waiters) waiter.wake();
    },
  };
}
