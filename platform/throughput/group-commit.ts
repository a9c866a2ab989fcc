import { createBatcher } from '../batcher.ts';
import type { RecordedEvent } from '../eventstore/event.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { flattenReads, locksOf, shapeRows } from '../eventstore/load.ts';
import {
  type Decision,
  definePlan,
  type Plan,
  resolveAnswer,
  type Writes,
} from '../eventstore/plan.ts';
import { LostRace, statementsToFind, withFound } from '../eventstore/transaction.ts';
import { mergeJobs } from '../jobs/job-type.ts';
import { mergeReads, TURN } from '../postgres/batch-statements.ts';
import { type Engine, ONE_SERVER } from '../postgres/engine.ts';
import { OutcomeUnconfirmed } from '../postgres/errors.ts';
import { pipeline } from '../postgres/pipeline.ts';
import { withClient } from '../postgres/pool.ts';
import { withDeadline, withinDeadline } from '../postgres/request-deadline.ts';
import { isRefusal } from '../refusal.ts';
import type { RowLocks, Sql } from '../sql.ts';

/** A command with less time before its deadline, in milliseconds, does not wait for a batch. */
const MIN_TIME_TO_BATCH_MS = 2000;

/** A failed batch is not tried again: each of its commands is executed alone. */
const AS_BATCH = { attempts: 1, skipLocked: true };

/** A command that locks more members and rows would make the others of its batch wait. */
const MAX_LOCKS = 16;

type AnyPlan = Plan<unknown, string>;
/** A command whose members and reads have to be found by these statements. */
interface ToFind {
  command: AnyPlan;
  statements: readonly Sql[];
  until: number;
}
/** A command to share a transaction; `isFound` if members and reads were found for it. */
interface Ready {
  command: AnyPlan;
  isFound: boolean;
}
/** Undefined if the command must run in its own transaction. */
type Outcome = { answer: unknown } | undefined;

/**
 * Wraps a store with group commit: commands that arrive while a batch is flushed share the next
 * transaction, and each is accepted or refused independently. What commands have to find before is found for all of them
 * in one round trip. Commands that lock the same row never share one, nor does one whose locks have no names; every command
 * of a failed batch runs in its own transaction.
 * A command whose load writes shares one only with others like it, and only while all that have written are accepted.
 * Reads of the same kind become one statement, except on a cluster, which refuses one statement for several owners.
 */
export function withGroupCommit(store: EventStore, engine: Engine = ONE_SERVER): EventStore {
  const finder = createBatcher<ToFind, Ready>(async (batch) => {
    const until = Math.min(...batch.map((one) => one.until));
    const rows = await withClient(store.pool, until, (client) =>
      pipeline(
        client,
        batch.flatMap(({ statements }) => statements),
      ),
    ).catch(() => undefined);
    if (!rows) return [];
    return batch.map(({ command, statements }) => {
      const found = rows.splice(0, statements.length);
      return { command: { ...withFound(command, found), decide: command.decide }, isFound: true };
    });
  });

  const share = async (batch: readonly (Ready & { until: number })[]): Promise<Outcome[]> => {
    const commands = batch.map(({ command }) => command);
    const until = Math.min(...batch.map((one) => one.until));
    const [first] = batch;
    if (first && batch.length === 1 && !first.isFound)
      return [{ answer: await withDeadline(() => store.execute(first.command), until) }];
    try {
      return (await withDeadline(
        () => store.execute(combine(commands, engine), AS_BATCH),
        until,
      )) as Outcome[];
    } catch (error) {
      if (error instanceof OutcomeUnconfirmed) throw error;
      return [];
    }
  };
  // What a load writes could change what other commands of its transaction have read.
  const [group, writers] = [createBatcher(share), createBatcher(share)];

  /** The command as it can share a transaction; undefined if it runs in its own. */
  async function prepare(command: AnyPlan, until: number): Promise<Ready | undefined> {
    if (until - performance.now() <= MIN_TIME_TO_BATCH_MS || runsAlone(command)) return undefined;
    const statements = statementsToFind(command);
    if (statements.length === 0) return { command, isFound: false };
    const found = await finder.join({ command, statements, until }, []);
    const shares =
      found && !runsAlone(found.command) && exclusiveLocks(found.command).length <= MAX_LOCKS;
    return shares ? found : undefined;
  }

  const execute: EventStore['execute'] = (command, execution) =>
    withinDeadline(async (until) => {
      const shared = await prepare(command as AnyPlan, until);
      const outcome =
        shared &&
        (await (writesInLoad(shared.command) ? writers : group).join(
          { ...shared, until },
          exclusiveLocks(shared.command),
        ));
      return (
        outcome
          ? outcome.answer
          : await withDeadline(() => store.execute(command, execution), until)
      ) as never;
    });

  return { ...store, execute };
}

type Locking = Pick<AnyPlan, 'lock' | 'load'>;

const memberIds = ({ lock = [] }: Locking) => lock;

const runsAlone = ({ load }: Locking): boolean => locksOf(load).includes('alone');

const rowLocks = ({ load }: Locking, kind: keyof RowLocks): string[] =>
  locksOf(load).flatMap((locks) => (locks === 'alone' ? [] : (locks[kind] ?? [])));

const writesInLoad = ({ load }: Locking): boolean =>
  flattenReads(load).some(({ writes }) => writes);

/** What no other command may lock at the same time: members and rows. */
const exclusiveLocks = (command: Locking): string[] => [
  ...memberIds(command),
  ...rowLocks(command, 'exclusive'),
];

/** Combines several commands into one, whose answer is the list of their outcomes. */
function combine(commands: readonly AnyPlan[], engine: Engine): Plan<Outcome[]> {
  const lists = commands.map(({ load }) => flattenReads(load));
  const { statements, distribute } = combineReads(lists, engine);
  return definePlan({
    lock: commands.flatMap(memberIds),
    load: statements,
    decide({ rows, locked, now }): Decision<Outcome[], never> {
      const reads = distribute(rows as Record<string, unknown>[][]);
      const exclusive = new Set(commands.flatMap((command) => rowLocks(command, 'exclusive')));
      const decisions = commands.map((command, index) => {
        const own = memberIds(command);
        if (!own.every((id) => locked.includes(id))) return undefined;
        // Another command of the batch may change what this one relies on.
        if (rowLocks(command, 'shared').some((row) => exclusive.has(row))) return undefined;
        try {
          return command.decide({
            rows: shapeRows(command.load, reads[index] ?? []),
            locked: own,
            now,
          });
        } catch {
          return undefined;
        }
      });
      const hasWritten = (command: number) =>
        lists[command]?.some(({ writes }, at) => writes?.((reads[command]?.[at] ?? []) as never[]));
      if (decisions.some((decision, index) => !isAccepted(decision) && hasWritten(index)))
        throw new LostRace('the load of a command has written, but the command is not accepted');
      const accepted = decisions.filter(isAccepted);
      const eventsOf = eventsByWrites(accepted);
      const outcomes = (events: readonly RecordedEvent[]): Outcome[] =>
        decisions.map((decision) => {
          if (decision === undefined) return undefined;
          if (isAccepted(decision))
            return { answer: resolveAnswer(decision, eventsOf(decision, events)) };
          return { answer: isRefusal(decision) ? decision : decision.unchanged };
        });
      if (accepted.length === 0) return { unchanged: outcomes([]) };
      return {
        answer: outcomes,
        appends: accepted.flatMap(({ appends }) => appends),
        rows: accepted.flatMap(({ rows = [] }) => rows),
        jobs: mergeJobs(accepted.flatMap(({ jobs = [] }) => jobs)),
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
function combineReads(lists: readonly (readonly Sql[])[], { distributed }: Engine) {
  // First the first reads of all commands, which lock the caller.
  const all = lists
    .flatMap((list, command) => list.map((read, at) => ({ read, command, at })))
    .sort((one, other) => one.at - other.at);
  const groups = [
    ...Map.groupBy(all, ({ read, command, at }) =>
      read.many && !distributed ? read.name : `${command} ${at}`,
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
    statements: groups.map((group) => mergeReads(group.map(({ read }) => read))),
    distribute,
  };
}
