import type pg from 'pg';
import type { WakeUps } from '../../platform/postgres/notifications.ts';
import { query } from '../../platform/postgres/query.ts';
import { sharedPatience } from '../../platform/postgres/request-deadline.ts';
import { readHeads } from '../../projections/updates/feed-page.ts';

const GATHER_MS = 5;

interface Waiter {
  memberId: string;
  /** The last sequence it has seen. */
  seen: number;
  /** Told by a hint since the last look. */
  hinted: boolean;
  wake(): void;
}

export type Waiting = ReturnType<typeof openWaiting>;

/**
 * Requests that wait for a member's next event. None of them holds a connection: a hint says that
 * there may be something, and one light statement at a time looks for all that were hinted.
 */
export function openWaiting(pool: pg.Pool, wakeUps: WakeUps) {
  const waiters = new Set<Waiter>();
  let looking = false;
  let closed = false;

  // With a patience of its own: it is asked for all of them, not for the request that came first.
  const heads = (members: readonly string[]) =>
    sharedPatience(() => query(pool, readHeads(members)));

  function hint(waiter: Waiter): void {
    waiter.hinted = true;
    if (looking) return;
    looking = true;
    setTimeout(() => void look(), GATHER_MS);
  }

  async function look(): Promise<void> {
    for (;;) {
      const hinted = [...waiters].filter((waiter) => waiter.hinted);
      if (hinted.length === 0) break;
      for (const waiter of hinted) waiter.hinted = false;
      const members = [...new Set(hinted.map((waiter) => waiter.memberId))];
      // Where storage does not answer, the next poll looks again.
      const rows = await heads(members).catch(() => []);
      const newest = new Map(rows.map((row) => [row.member_id, row.sequence]));
      for (const waiter of hinted)
        if ((newest.get(waiter.memberId) ?? 0) > waiter.seen) waiter.wake();
    }
    looking = false;
  }

  /**
   * Begins to listen, before the caller reads: nothing falls between. `more` resolves with the
   * first event after `seen`, when the seconds are over, the caller has gone or the process drains.
   */
  function listen(memberId: string) {
    const early = { memberId, seen: Infinity, hinted: false, wake: () => undefined };
    let waiter: Waiter = early;
    const stop = wakeUps.subscribe(memberId, () => hint(waiter));

    async function more(seen: number, seconds: number, gone: AbortSignal): Promise<void> {
      if (closed || gone.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiter = { memberId, seen, hinted: false, wake: resolve };
      waiters.add(waiter);
      const timer = setTimeout(resolve, seconds * 1000);
      gone.addEventListener('abort', () => resolve(), { once: true });
      // Hinted between the listening and now: the read may have been before that event.
      if (early.hinted) hint(waiter);
      await promise;
      clearTimeout(timer);
      waiters.delete(waiter);
    }

    return { more, stop };
  }

  return {
    listen,
    /** Every waiting request is answered at once, and none waits from now on. */
    close(): void {
      closed = true;
      for (const waiter of waiters) waiter.wake();
    },
  };
}
