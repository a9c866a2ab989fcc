import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { fault } from '../fault.ts';
import { rollBack } from '../postgres/connection.ts';
import { type Engine, ONE_SERVER } from '../postgres/engine.ts';
import { isUnavailable, StorageUnavailable } from '../postgres/errors.ts';
import { withClient } from '../postgres/pool.ts';
import { withinDeadline } from '../postgres/request-deadline.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import { type Append, appendStatement, findEvent } from './append.ts';
import { wasCommitted } from './commit-status.ts';
import type { EventCatalogue, RecordedEvent } from './event.ts';
import type { Owner } from './owner.ts';
import { type Job, type Loaded, type Plan, resolveAnswer, type Writes } from './plan.ts';
import { findReceipt, type Receipt, receiptStatement } from './receipts.ts';
import { createStandbyBarrier } from './standby-barrier.ts';
import {
  type Begun,
  begin,
  CommitUnanswered,
  commit,
  LostRace,
  lockMore,
  MIN_WRITE_MS,
} from './transaction.ts';
import { findMark, insertMark } from './write-marks.ts';

export interface EventStoreDeps {
  pool: pg.Pool;
  url: string;
  catalogue: EventCatalogue;
  project: (events: readonly RecordedEvent[]) => Sql[];
  /** The members whose feeds list an event; they must be locked when it is appended. */
  affectedMembers: (event: RecordedEvent) => readonly string[];
  /** Whether an owner of this kind may own the stream: the name of a stream begins with its kind. */
  mayOwn: (owner: Owner, stream: string) => boolean;
  enqueue: (job: Job) => Promise<Sql>;
  /** Whether acknowledged writes are missing from the log; commands are refused meanwhile. */
  isLogLost?: () => boolean;
  engine?: Engine;
  /** Called after COMMIT, outside of the transaction. */
  committed?: (events: readonly RecordedEvent[], jobs: readonly Job[]) => void;
}

/** How a plan is executed, for group commit and tests. */
export interface Execution {
  /** How often it is tried if it loses races or storage fails; by default `ATTEMPTS`. */
  attempts?: number;
  /** Skips members that another transaction has locked, and waits for any other lock at most 200 ms. */
  skipLocked?: boolean;
}

export interface EventStore {
  /**
   * Runs a plan in one transaction. Throws `StorageUnavailable` if nothing was written,
   * `OutcomeUnconfirmed` if that is unknown.
   */
  execute<Answer, Code extends string>(
    plan: Plan<Answer, Code>,
    execution?: Execution,
  ): Promise<Answer | Refusal<Code>>;
  catalogue: EventCatalogue;
  pool: pg.Pool;
  /** Whether commits are known to wait for a synchronous standby; commands are refused meanwhile. */
  waitsForStandby: () => boolean;
  /**
   * Where synchronous standbys are configured: resolves once they have everything that was visible
   * when the server was started at this time. Throws `StorageUnavailable` at the deadline.
   */
  confirmRestart: (startedAt: Date) => Promise<void>;
}

/** A decision that writes, ready to be committed. */
interface Prepared<Answer> {
  decision: Writes<Answer>;
  events: RecordedEvent[];
  statements: Sql[];
  witness: Sql | undefined;
}

/** The result of a command that wrote nothing. `hasStandbys` is false for a refusal, which needs no confirmation. */
interface NothingWritten<Answer, Code extends string> {
  outcome: Answer | Refusal<Code>;
  hasStandbys: boolean;
}

interface Committed<Answer> extends Prepared<Answer> {
  xid: string;
  /** Set if COMMIT got no answer. */
  unanswered: CommitUnanswered | undefined;
}

/** How often a command is tried by default. */
const ATTEMPTS = 6;

/**
 * The pause in milliseconds after an attempt that lost a race. From the second on it is random and
 * grows, so that each of many commands that change one thing gets a turn.
 */
const racePause = (turn: number): number => (turn === 1 ? 0 : Math.random() * 50 * turn);

/**
 * Creates a store that runs each command in one transaction with two round trips: lock and load;
 * then append, project, write the receipt and the jobs, and COMMIT. A command with `find` takes one
 * more before the transaction. A command that loses a race is decided again on the state that the
 * winner left.
 */
export function createEventStore(deps: EventStoreDeps): EventStore {
  const { pool, catalogue, engine = ONE_SERVER } = deps;
  const barrier = createStandbyBarrier(deps.url);

  function execute<Answer, Code extends string>(
    plan: Plan<Answer, Code>,
    { attempts = ATTEMPTS, skipLocked = false }: Execution = {},
  ): Promise<Answer | Refusal<Code>> {
    return withinDeadline(async (until) => {
      for (let turn = 1; ; turn++) {
        try {
          return await attempt(plan, skipLocked, until);
        } catch (error) {
          const race = error instanceof LostRace;
          if (!race && !isUnavailable(error)) throw error;
          const pause = race ? racePause(turn) : 50 * turn;
          if (performance.now() + pause + MIN_WRITE_MS >= until || turn >= attempts)
            throw new StorageUnavailable('command failed', { cause: error });
          await sleep(pause);
        }
      }
    });
  }

  async function attempt<Answer, Code extends string>(
    plan: Plan<Answer, Code>,
    skipLocked: boolean,
    until: number,
  ): Promise<Answer | Refusal<Code>> {
    await barrier.clear(until);
    const attempted = await withClient(pool, until, (client) =>
      transact(client, plan, skipLocked, until),
    );
    if ('outcome' in attempted) {
      // A restarted primary shows commits that no standby may have; confirm them before answering.
      if (attempted.hasStandbys && !fault('no-sync-wait')) await barrier.confirm(until);
      return attempted.outcome;
    }
    const { decision, events, unanswered } = attempted;
    if (unanswered && !(await wasCommitted(deps.url, { ...attempted, barrier }, until)))
      throw new StorageUnavailable('the transaction was not committed', { cause: unanswered });
    deps.committed?.(events, decision.jobs ?? []);
    return resolveAnswer(decision, events);
  }

  /** Runs the transaction: BEGIN, locks and reads (`begin`); the decision (`prepare`); writes and COMMIT (`commit`). */
  async function transact<Answer, Code extends string>(
    client: pg.PoolClient,
    plan: Plan<Answer, Code>,
    skipLocked: boolean,
    until: number,
  ): Promise<NothingWritten<Answer, Code> | Committed<Answer>> {
    if (barrier.isWaiting()) throw new StorageUnavailable('commits wait for a standby');
    // Checked after connecting, since opening the connection may have revealed the loss.
    if (deps.isLogLost?.()) throw new StorageUnavailable('acknowledged writes are lost');
    const begun = await begin(client, plan, skipLocked);
    // After an error, such as a lost race, the connection can be used again.
    const prepared = await prepare(client, plan, begun).catch(async (error: unknown) => {
      await rollBack(client);
      throw error;
    });
    if ('outcome' in prepared) {
      await client.query('ROLLBACK');
      return prepared;
    }
    const { xid, hasStandbys } = begun;
    const onTimeout = () => {
      if (hasStandbys) barrier.raise();
    };
    const unanswered = await commit(client, prepared.statements, until, onTimeout).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof CommitUnanswered) return error;
        throw error;
      },
    );
    return { ...prepared, xid, unanswered };
  }

  /** Decides; returns the statements that the decision writes, or the outcome if it writes none. */
  async function prepare<Answer, Code extends string>(
    client: pg.PoolClient,
    plan: Plan<Answer, Code>,
    begun: Begun,
  ): Promise<NothingWritten<Answer, Code> | Prepared<Answer>> {
    let { decision, events, unlocked } = decide(plan, begun);
    let { now } = begun;
    if (unlocked.length > 0) {
      const again = await lockMore(client, begun, unlocked);
      ({ decision, events, unlocked } = decide(plan, again));
      ({ now } = again);
    }
    if (isRefusal(decision)) return { outcome: decision, hasStandbys: false };
    if ('unchanged' in decision)
      return { outcome: decision.unchanged, hasStandbys: begun.hasStandbys };
    if (unlocked.length > 0)
      throw new LostRace('an event concerns a member whom another transaction has locked');
    const receipts = [decision.receipt?.(events) ?? []].flat();
    const statements = await statementsOf(decision, events, receipts, now);
    if (!engine.distributed)
      return { decision, events, statements, witness: findWitness(events, receipts, now) };
    const mark = events[0]?.event_id ?? uuidv7();
    return {
      decision,
      events,
      statements: [insertMark(mark, now), ...statements],
      witness: findMark(mark),
    };
  }

  /** Decides; `unlocked` are the members who must be locked as well before the events are written. */
  function decide<Answer, Code extends string>(plan: Plan<Answer, Code>, loaded: Loaded) {
    const decision = plan.decide(loaded);
    const events = 'appends' in decision ? record(decision.appends, loaded.now) : [];
    const members = events.flatMap(deps.affectedMembers);
    return { decision, events, unlocked: members.filter((id) => !loaded.locked.includes(id)) };
  }

  function record(appends: readonly Append[], now: Date): RecordedEvent[] {
    // Sorted, because lists order events that one command recorded at the same time by id.
    const ids = appends.flatMap(({ events }) => events.map(() => uuidv7())).sort();
    return appends.flatMap(({ owner, stream, version, actor, events }) => {
      if (!deps.mayOwn(owner, stream))
        throw new Error(`${stream} cannot belong to a ${owner.kind}`);
      return events.map((event, index) => {
        catalogue.check(event);
        return {
          ...event,
          owner_id: owner.id,
          stream_id: stream,
          stream_version: version + index + 1,
          position: 0,
          event_id: ids.shift(),
          actor,
          recorded_at: now,
        } as RecordedEvent;
      });
    });
  }

  async function statementsOf(
    { jobs = [], rows = [] }: Writes<unknown>,
    events: RecordedEvent[],
    receipts: readonly Receipt[],
    now: Date,
  ): Promise<Sql[]> {
    return [
      ...(await Promise.all(jobs.map(deps.enqueue))),
      ...events.map(appendStatement),
      ...deps.project(events),
      ...rows,
      ...receipts.map((one) => receiptStatement(one, now)),
    ];
  }

  return {
    execute,
    catalogue,
    pool,
    waitsForStandby: barrier.isWaiting,
    confirmRestart: (startedAt) =>
      withinDeadline((until) => barrier.confirmRestart(startedAt, until)),
  };
}

/** Selects a row that proves the commit; undefined if the command wrote neither event nor receipt. */
function findWitness(
  [event]: readonly RecordedEvent[],
  [receipt]: readonly Receipt[],
  now: Date,
): Sql | undefined {
  if (event) return findEvent(event);
  return receipt && findReceipt(receipt, now);
}
