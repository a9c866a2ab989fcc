import type pg from 'pg';
import { type Sql, sql } from '../sql.ts';
import { backendPid, rollBack } from './connection.ts';
import { isCancelled, Overloaded } from './errors.ts';
import { pipeline } from './pipeline.ts';
import { isDirect, withClient } from './pool.ts';
import { runRead } from './query.ts';

interface Bounds {
  /** Most connections of the pool that these reads use; less if the pool is small. */
  maxConcurrent: number;
  /** Longest wait for one of them, in milliseconds. */
  waitMs: number;
  /** Longest duration of a statement, in milliseconds. */
  statementMs: number;
  /** Planner settings for the statements. */
  settings?: Readonly<Record<string, string>>;
}

const BEGIN = sql`BEGIN READ ONLY`;
const COMMIT = sql`COMMIT`;

/**
 * Creates a read for statements that anyone can make expensive: it leaves most of the pool to other
 * work, and ends with the caller (`gone`). Throws `Overloaded` after a wait or a statement that is too
 * long.
 */
export function boundedReads(
  pool: pg.Pool,
  { maxConcurrent, waitMs, statementMs, settings = {} }: Bounds,
) {
  const takeTurn = createTurns(
    Math.max(1, Math.min(maxConcurrent, Math.floor(pool.options.max / 2))),
  );
  const local = { statement_timeout: String(statementMs), ...settings };
  const set = sql`SELECT count(set_config(name, value, true))
    FROM unnest(${Object.keys(local)}::text[], ${Object.values(local)}::text[]) AS given (name, value)`;

  return async function read<Row>(statement: Sql<Row>, gone: AbortSignal): Promise<Row[]> {
    const endTurn = await takeTurn(waitMs, gone);
    try {
      const rows = await runRead(pool, (client, from) =>
        cancelWith(gone, client, from, async () => {
          const results = await pipeline(client, [BEGIN, set, statement, COMMIT]);
          return results[2] as Row[];
        }),
      );
      if (!rows) throw new Overloaded('the statement took too long, or its caller is gone');
      return rows;
    } finally {
      endTurn();
    }
  };
}

/** Runs a statement, which ends with its caller. Resolves to undefined if it was cancelled. */
async function cancelWith<Result>(
  gone: AbortSignal,
  client: pg.PoolClient,
  pool: pg.Pool,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  let cancelled: Promise<unknown> = Promise.resolve();
  const cancel = () => {
    if (isDirect(client)) cancelled = cancelStatement(pool, backendPid(client));
  };
  if (gone.aborted) return undefined;
  gone.addEventListener('abort', cancel);
  try {
    return await run();
  } catch (error) {
    await rollBack(client);
    if (isCancelled(error)) return undefined;
    throw error;
  } finally {
    gone.removeEventListener('abort', cancel);
    // Else a late cancellation could end the next statement of the connection.
    await cancelled;
  }
}

/** If no connection is free, the timeout of the statement ends it. */
async function cancelStatement(pool: pg.Pool, pid: number): Promise<void> {
  await withClient(pool, performance.now() + 1000, (client) =>
    client.query('SELECT pg_cancel_backend($1)', [pid]),
  ).catch(() => undefined);
}

/**
 * Lets `size` callers have a turn at a time, in the order of their calls. A caller that waits longer than
 * `waitMs` milliseconds, or that is `gone`, gets the error `Overloaded`.
 */
export function createTurns(size: number) {
  const waiting = new Set<() => void>();
  let free = size;

  function endTurn(): void {
    const [next] = waiting;
    if (next) next();
    else free++;
  }

  return async function takeTurn(waitMs: number, gone: AbortSignal): Promise<() => void> {
    if (free > 0) {
      free--;
      return endTurn;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', giveUp);
        waiting.delete(begin);
      };
      const giveUp = () => {
        leave();
        reject(new Overloaded('no turn in time'));
      };
      const begin = () => {
        leave();
        resolve();
      };
      const timer = setTimeout(giveUp, waitMs);
      gone.addEventListener('abort', giveUp);
      waiting.add(begin);
    });
    return endTurn;
  };
}
