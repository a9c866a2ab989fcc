import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { isUnavailable, OutcomeUnconfirmed, StorageUnavailable } from '../postgres/errors.ts';
import { patiently } from '../postgres/patience.ts';
import { isDirect, withClient } from '../postgres/pool.ts';
import { type Append, appendStatement, receiptStatement } from './append.ts';
import { openClock } from './clock.ts';
import { isRefusal, type Refusal } from './decider.ts';
import type { EventCatalogue, RecordedEvent } from './event.ts';
import { gatherJobs } from './gather-jobs.ts';
import { openGroup } from './group.ts';
import { readsOf } from './load.ts';
import { wasCommitted } from './outcome.ts';
import type { Job, Loaded, Plan, Writes } from './plan.ts';
import { isPlainRead } from './reads.ts';
import type { Sql } from './sql.ts';
import { begin, beginBlind, commit, NEEDED_MS, TryAgain } from './transaction.ts';

export {
  type Decision,
  definePlan,
  type Job,
  type Loaded,
  type Plan,
  type Unchanged,
  type Writes,
} from './plan.ts';

export interface StoreParts {
  pool: pg.Pool;
  url: string;
  catalogue: EventCatalogue;
  project: (events: readonly RecordedEvent[]) => Sql[];
  /** The members in whose feeds an event stands: they must be locked when it is appended. */
  concerns: (event: RecordedEvent) => readonly string[];
  enqueue: (job: Job) => Promise<Sql>;
  /** Called after COMMIT, never inside the transaction. */
  committed?: (events: readonly RecordedEvent[]) => void;
}

const RETRIES = 6;
/** Who has less patience left than this, in milliseconds, is not held up by others. */
const CALM_MS = 2000;

type AnyPlan = Plan<unknown, string>;
type Outcome = { answer: unknown };
interface Accepted {
  writes: Writes<unknown>;
  events: RecordedEvent[];
}

export type EventStore = ReturnType<typeof openEventStore>;

/**
 * Runs commands in two round trips: lock and load; then append, project, receipt and COMMIT; `blind`
 * ones in the second alone. Those that come while others are flushed share a transaction, each
 * refused or accepted on its own. A lost race is decided again on what the winner left.
 */
export function openEventStore(parts: StoreParts) {
  const { pool, catalogue } = parts;
  const clock = openClock();
  const group = openGroup<{ plan: AnyPlan; until: number }, Outcome>(async (batch) => {
    const plans = batch.map(({ plan }) => plan);
    const until = Math.min(...batch.map(({ until }) => until));
    const attempted = attempt(plans, until, areBlind(plans));
    if (batch.length === 1) return attempted;
    return attempted.catch((error: unknown) => {
      if (error instanceof OutcomeUnconfirmed) throw error;
      // Whichever spoilt it: each goes alone.
      return [];
    });
  });

  function execute<Answer, Code extends string>(
    plan: Plan<Answer, Code>,
  ): Promise<Answer | Refusal<Code>> {
    return patiently(async (until) => (await outcomeOf(plan, until)).answer as never);
  }

  async function outcomeOf(plan: AnyPlan, until: number): Promise<Outcome> {
    for (let turn = 1; ; turn++) {
      try {
        const ids =
          turn === 1 && until - performance.now() > CALM_MS ? gatherable(plan) : undefined;
        const gathered = ids && (await group.join({ plan, until }, ids));
        return gathered ?? ((await attempt([plan], until))[0] as Outcome);
      } catch (error) {
        const race = error instanceof TryAgain;
        if (!race && !isUnavailable(error)) throw error;
        const pause = race ? 0 : 50 * turn;
        if (performance.now() + pause + NEEDED_MS >= until || turn >= RETRIES)
          throw new StorageUnavailable('command failed', { cause: error });
        await sleep(pause);
      }
    }
  }

  /** One transaction for all. Among several, one that cannot be decided there has no outcome. */
  function attempt(
    plans: readonly AnyPlan[],
    until: number,
    blind = false,
  ): Promise<readonly (Outcome | undefined)[]> {
    return withClient(pool, until, async (client) => {
      // What ran blindly is known by its process alone, and a pooler lends that to others.
      const known = blind && isDirect(client) ? clock.read() : undefined;
      const begun = known ? beginBlind(client, plans, known) : await begin(client, plans);
      const { loads, opening, transaction } = begun;
      const now = known ?? clock.saw(begun.now);
      const decided = plans.map((plan, index) => {
        const load = loads[index];
        try {
          return load && decide(plan, { ...load, now });
        } catch (error) {
          if (plans.length === 1) throw error;
          return undefined;
        }
      });
      const accepted = decided.filter((one) => one !== undefined && 'writes' in one);
      if (accepted.length > 0) {
        const events = accepted.flatMap((one) => one.events);
        const jobs = gatherJobs(accepted.flatMap(({ writes }) => writes.jobs ?? []));
        await commit(
          client,
          [...opening, ...(await Promise.all(jobs.map(parts.enqueue)))],
          () => accepted.map((one) => statementsOf(one, now)),
          () => wasCommitted(parts.url, transaction, events[0], until),
          until,
        );
        parts.committed?.(events);
      } else if (!known) await client.query('ROLLBACK');
      return decided.map((one) => {
        if (one && 'writes' in one) return outcome(one);
        // What was refused blindly has to be read.
        return known ? undefined : one;
      });
    });
  }

  function decide(plan: AnyPlan, loaded: Loaded): Outcome | Accepted {
    const decision = plan.decide(loaded);
    if (isRefusal(decision)) return { answer: decision };
    if ('unchanged' in decision) return { answer: decision.unchanged };
    const events = record(decision.appends, loaded.now);
    for (const event of events)
      for (const member of parts.concerns(event))
        if (!loaded.locked.includes(member)) throw new TryAgain(`${event.type}: member not locked`);
    return { writes: decision, events };
  }

  function record(appends: readonly Append[], now: Date): RecordedEvent[] {
    // Rising, since what one command did at one time is listed in this order.
    const ids = appends.flatMap(({ events }) => events.map(() => uuidv7())).sort();
    return appends.flatMap(({ owner, stream, version, actor, events }) =>
      events.map((event, index) => {
        catalogue.check(event);
        return {
          ...event,
          owner_id: owner,
          stream_id: stream,
          stream_version: version + index + 1,
          position: 0,
          event_id: ids.shift(),
          actor,
          recorded_at: now,
        } as RecordedEvent;
      }),
    );
  }

  function statementsOf({ writes, events }: Accepted, now: Date): Sql[] {
    const statements = [...events.map(appendStatement), ...parts.project(events)];
    statements.push(...(writes.rows ?? []));
    if (writes.receipt) statements.push(receiptStatement(writes.receipt(events), now));
    return statements;
  }

  return { execute, catalogue, pool };
}

function outcome({ writes: { answer }, events }: Accepted): Outcome {
  return { answer: typeof answer === 'function' ? answer(events) : answer };
}

const areBlind = (plans: readonly AnyPlan[]) => plans.every(({ blind }) => blind);

/** The members whom a command locks, where it may share a transaction: it locks nothing else. */
function gatherable({ gate, lock = [], load }: AnyPlan): readonly string[] | undefined {
  return gate || 'text' in lock || !readsOf(load).every(isPlainRead) ? undefined : lock;
}
