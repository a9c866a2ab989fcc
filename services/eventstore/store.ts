import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { pipeline } from '../pipeline.ts';
import {
  deadline,
  isServerError,
  isUnavailable,
  StorageUnavailable,
  types,
  withClient,
} from '../postgres.ts';
import { type Append, appendStatement, type Receipt, receiptStatement } from './append.ts';
import { isRefusal, type Refusal } from './decider.ts';
import type { EventCatalogue, RecordedEvent } from './event.ts';
import { wasCommitted } from './outcome.ts';
import { type Sql, sql } from './sql.ts';

/** A job to enqueue in the same transaction. `startAfter`: seconds from now. */
export interface Job {
  queue: string;
  data: Record<string, unknown>;
  startAfter?: number;
}

/** What a command writes. Everything in it is committed together, or nothing is. */
export interface Writes<Answer> {
  answer: Answer | ((events: RecordedEvent[]) => Answer);
  appends: readonly Append[];
  /** Rows of primary data that are no events: verifiers, sessions, budgets. */
  rows?: readonly Sql[];
  receipt?: (events: RecordedEvent[]) => Receipt;
  jobs?: readonly Job[];
}

/** Answered without a write: a replay, or already so. */
export interface Unchanged<Answer> {
  unchanged: Answer;
}

export type Decision<Answer, Code extends string = string> =
  | Writes<Answer>
  | Unchanged<Answer>
  | Refusal<Code>;

/** What `decide` sees: the rows of each statement of `load`, and the database's clock. */
export interface Loaded {
  rows: ReadonlyArray<readonly never[]>;
  /** The members whose rows are locked. */
  locked: readonly string[];
  now: Date;
}

export interface Plan<Answer, Code extends string = never> {
  /**
   * Members to lock: ids, or a statement that selects `member_id` (it may find them through the
   * read models). They are locked in id order.
   */
  lock?: readonly string[] | Sql;
  /**
   * Locks a row before the members are looked for. Where commands themselves change whom `lock`
   * finds, they wait here for each other, instead of finding at the end that they locked too few.
   */
  gate?: Sql;
  /** Read after the lock is held. */
  load: readonly Sql[];
  decide(loaded: Loaded): Decision<Answer, Code>;
}

export interface StoreParts {
  pool: pg.Pool;
  url: string;
  catalogue: EventCatalogue;
  project: (event: RecordedEvent) => Sql[];
  /** The members in whose feeds an event stands: they must be locked when it is appended. */
  concerns: (event: RecordedEvent) => readonly string[];
  enqueue: (job: Job) => Promise<Sql>;
  /** Called after COMMIT, never inside the transaction. */
  committed?: (events: readonly RecordedEvent[], jobs: readonly Job[]) => void;
}

class TryAgain extends Error {}

const BEGIN = sql`BEGIN`;
const NOW = sql`SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid`;
const RETRIES = 6;

export type EventStore = ReturnType<typeof openEventStore>;

/**
 * Runs commands in two round trips each: lock and load; then append, project, receipt and COMMIT.
 * A lost race is decided again on what the winner left.
 */
export function openEventStore(parts: StoreParts) {
  const { pool, catalogue } = parts;

  async function execute<Answer, Code extends string>(
    plan: Plan<Answer, Code>,
  ): Promise<Answer | Refusal<Code>> {
    const until = deadline();
    for (let attempt = 1; ; attempt++) {
      try {
        return await attemptOnce(plan, until);
      } catch (error) {
        const again = error instanceof TryAgain && attempt < RETRIES;
        if (!again && !isUnavailable(error)) throw error;
        if (Date.now() + 50 * attempt >= until || (!again && attempt >= RETRIES))
          throw new StorageUnavailable('command failed', { cause: error });
        await sleep(again ? 0 : 50 * attempt);
      }
    }
  }

  function attemptOnce<Answer, Code extends string>(
    plan: Plan<Answer, Code>,
    until: number,
  ): Promise<Answer | Refusal<Code>> {
    return withClient(pool, until, async (client) => {
      const { loaded, xid } = await load(client, plan);
      const decision = plan.decide(loaded);
      if (isRefusal(decision) || 'unchanged' in decision) {
        await client.query('ROLLBACK');
        return isRefusal(decision) ? decision : decision.unchanged;
      }
      const events = record(decision.appends, loaded.now);
      for (const event of events)
        for (const member of parts.concerns(event))
          if (!loaded.locked.includes(member))
            throw new TryAgain(`${event.type}: member not locked`);
      await commit(client, decision, events, loaded.now, xid);
      parts.committed?.(events, decision.jobs ?? []);
      return typeof decision.answer === 'function'
        ? (decision.answer as (events: RecordedEvent[]) => Answer)(events)
        : decision.answer;
    });
  }

  async function load(client: pg.PoolClient, plan: Pick<Plan<unknown>, 'gate' | 'lock' | 'load'>) {
    const statements = plan.lock ? [lockStatement(plan.lock), ...plan.load] : plan.load;
    const gate = plan.gate ? [plan.gate] : [];
    const all = await pipeline(client, [BEGIN, ...gate, ...statements, NOW], types);
    const results = all.slice(1 + gate.length);
    const clock = results.pop()?.rows[0] as { now: Date; xid: string } | undefined;
    if (!clock) throw new Error('the clock did not answer');
    const { now, xid } = clock;
    const rows = results.map((result) => result.rows as never[]);
    const locked = plan.lock ? (rows.shift() ?? []) : [];
    return {
      loaded: { rows, now, locked: locked.map((row: { member_id: string }) => row.member_id) },
      xid,
    };
  }

  function record(appends: readonly Append[], now: Date): RecordedEvent[] {
    return appends.flatMap(({ owner, stream, version, actor, events }) =>
      events.map((event, index) => {
        catalogue.check(event);
        return {
          ...event,
          owner_id: owner,
          stream_id: stream,
          stream_version: version + index + 1,
          position: 0,
          event_id: uuidv7(),
          actor,
          recorded_at: now,
        } as RecordedEvent;
      }),
    );
  }

  async function commit<Answer>(
    client: pg.PoolClient,
    writes: Writes<Answer>,
    events: RecordedEvent[],
    now: Date,
    xid: string,
  ): Promise<void> {
    const jobs = await Promise.all((writes.jobs ?? []).map(parts.enqueue));
    const statements = events.flatMap((event) => [appendStatement(event), ...parts.project(event)]);
    statements.push(...(writes.rows ?? []), ...jobs);
    if (writes.receipt) statements.push(receiptStatement(writes.receipt(events), now));

    const [written, last] = await Promise.allSettled([
      pipeline(client, statements, types),
      client.query('COMMIT'),
    ]);
    if (written.status === 'fulfilled' && last.status === 'fulfilled') return;
    const first = [written, last].find((result) => result.status === 'rejected')?.reason;
    if (last.status === 'rejected' && !isServerError(last.reason)) {
      if (await wasCommitted(parts.url, xid, events[0])) return;
      throw new StorageUnavailable('the transaction was not committed', { cause: first });
    }
    throw isRace(first) ? new TryAgain('lost a race', { cause: first }) : first;
  }

  return { execute, catalogue, pool };
}

function lockStatement(lock: readonly string[] | Sql): Sql {
  if (!('text' in lock))
    return sql`SELECT member_id FROM feed_heads WHERE member_id = ANY(${lock}::uuid[])
      ORDER BY member_id FOR UPDATE`;
  const text = `SELECT member_id FROM feed_heads WHERE member_id IN (${lock.text}) ORDER BY member_id FOR UPDATE`;
  return { name: `lock-${lock.name}`, text, values: lock.values };
}

/** A unique index, a deadlock or a serialization failure: decide again on what the winner left. */
function isRace(error: unknown): boolean {
  return ['23505', '40P01', '40001'].includes((error as { code?: string }).code ?? '');
}
