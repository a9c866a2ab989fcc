import { TURN } from '../batch-statements.ts';
import { openGroup } from '../batcher.ts';
import type { RecordedEvent } from '../eventstore/event.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { readsOf, rowsOf } from '../eventstore/load.ts';
import {
  answerOf,
  type Decision,
  definePlan,
  type Job,
  type Plan,
  type Writes,
} from '../eventstore/plan.ts';
import { OutcomeUnconfirmed } from '../postgres/errors.ts';
import { patiently, sharedPatience } from '../postgres/request-deadline.ts';
import { isRefusal } from '../refusal.ts';
import type { Sql } from '../sql.ts';

/** A command with less time before its deadline, in milliseconds, does not wait for a batch. */
const CALM_MS = 2000;

type AnyPlan = Plan<unknown, string>;
/** Undefined if the command must run in its own transaction. */
type Outcome = { answer: unknown } | undefined;

/**
 * Wraps a store with group commit: commands that arrive while a batch is flushed share the next
 * transaction, and each is accepted or refused independently. A command that takes any lock besides
 * those of known members runs in its own transaction, as does every command of a failed batch.
 */
export function withGroupCommit(store: EventStore): EventStore {
  const group = openGroup<{ plan: AnyPlan; until: number }, Outcome>(async (batch) => {
    const plans = batch.map(({ plan }) => plan);
    const until = Math.min(...batch.map((one) => one.until));
    const [first] = plans;
    if (first && plans.length === 1)
      return [{ answer: await sharedPatience(() => store.execute(first), until) }];
    try {
      return (await sharedPatience(() => store.execute(combine(plans), 1), until)) as Outcome[];
    } catch (error) {
      if (error instanceof OutcomeUnconfirmed) throw error;
      return [];
    }
  });

  const execute: EventStore['execute'] = (plan, attempts) =>
    patiently(async (until) => {
      const shares = until - performance.now() > CALM_MS && canShareTransaction(plan);
      const outcome =
        shares && (await group.join({ plan: plan as AnyPlan, until }, memberIds(plan)));
      return (
        outcome ? outcome.answer : await sharedPatience(() => store.execute(plan, attempts), until)
      ) as never;
    });

  return { ...store, execute };
}

const memberIds = ({ lock = [] }: Pick<AnyPlan, 'lock'>) => lock as readonly string[];

/** Whether a command locks only members whose ids are known before it loads anything. */
function canShareTransaction({ gate, lock = [], load }: Omit<AnyPlan, 'decide'>): boolean {
  return !gate && !('text' in lock) && readsOf(load).every(({ locks }) => !locks);
}

/** Combines several plans into one, whose answer is the list of their outcomes. */
function combine(plans: readonly AnyPlan[]): Plan<Outcome[]> {
  const { statements, distribute } = combineReads(plans.map(({ load }) => readsOf(load)));
  const ids = plans.flatMap(memberIds);
  return definePlan({
    ...(ids.length > 0 ? { lock: ids } : {}),
    impatient: true,
    load: statements,
    decide({ rows, locked, now }): Decision<Outcome[], never> {
      const reads = distribute(rows as Record<string, unknown>[][]);
      const decisions = plans.map((plan, index) => {
        const own = memberIds(plan);
        if (!own.every((id) => locked.includes(id))) return undefined;
        try {
          return plan.decide({ rows: rowsOf(plan.load, reads[index] ?? []), locked: own, now });
        } catch {
          return undefined;
        }
      });
      const accepted = decisions.filter(isAccepted);
      const eventsOf = eventsByWrites(accepted);
      const outcomes = (events: readonly RecordedEvent[]): Outcome[] =>
        decisions.map((decision) => {
          if (decision === undefined) return undefined;
          if (isAccepted(decision))
            return { answer: answerOf(decision, eventsOf(decision, events)) };
          return { answer: isRefusal(decision) ? decision : decision.unchanged };
        });
      if (accepted.length === 0) return { unchanged: outcomes([]) };
      return {
        answer: outcomes,
        appends: accepted.flatMap(({ appends }) => appends),
        rows: accepted.flatMap(({ rows = [] }) => rows),
        jobs: gatherJobs(accepted.flatMap(({ jobs = [] }) => jobs)),
        receipt: (events) =>
          accepted.flatMap((writes) => writes.receipt?.(eventsOf(writes, events)) ?? []),
      };
    },
  });
}

function isAccepted(decision: Decision<unknown> | undefined): decision is Writes<unknown> {
  return decision !== undefined && 'appends' in decision;
}

/** Finds each command's events in those of the batch, which are in the order of the appends. */
function eventsByWrites(accepted: readonly Writes<unknown>[]) {
  let next = 0;
  const ranges = new Map(
    accepted.map((writes) => {
      const count = writes.appends.reduce((sum, { events }) => sum + events.length, 0);
      next += count;
      return [writes, [next - count, next]] as const;
    }),
  );
  return (writes: Writes<unknown>, events: readonly RecordedEvent[]): RecordedEvent[] =>
    events.slice(...(ranges.get(writes) ?? [0, 0]));
}

type Row = Record<string, unknown>;

/** Combines reads of the same kind into one statement for all their keys. */
function combineReads(lists: readonly (readonly Sql[])[]) {
  const all = lists.flatMap((list, command) => list.map((read, at) => ({ read, command, at })));
  const groups = [
    ...Map.groupBy(all, ({ read, command, at }) =>
      read.many ? read.name : `${command} ${at}`,
    ).values(),
  ];

  /** Assigns the rows of the combined statements to each command's reads. */
  function distribute(results: readonly Row[][]): Row[][][] {
    const rows: Row[][][] = lists.map((list) => list.map(() => []));
    for (const [index, group] of groups.entries())
      for (const { [TURN]: turn, ...row } of results[index] ?? []) {
        const one = group[group.length === 1 ? 0 : (turn as number) - 1];
        if (one) rows[one.command]?.[one.at]?.push(row);
      }
    return rows;
  }

  return {
    statements: groups.map((group) => group.map(({ read }) => read)).map(oneRead),
    distribute,
  };
}

function oneRead(reads: readonly Sql[]): Sql {
  const [first] = reads as [Sql];
  if (reads.length === 1 || !first.many) return first;
  return {
    ...first.many,
    values: first.values.map((_, at) => reads.map((read) => read.values[at])),
  };
}

/** Merges the jobs of one transaction: jobs with `gathers` become one job per queue. */
function gatherJobs(jobs: readonly Job[]): Job[] {
  const gathered = new Map<string, Job>();
  for (const job of jobs.filter(({ gathers }) => gathers)) {
    const data = { ...gathered.get(job.queue)?.data } as Record<string, unknown[]>;
    for (const [name, list] of Object.entries(job.data))
      data[name] = [...(data[name] ?? []), ...(list as unknown[])];
    gathered.set(job.queue, { ...job, data });
  }
  return [...jobs.filter(({ gathers }) => !gathers), ...gathered.values()];
}
