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
import type { Sql } from '../sql.ts';

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
/** A command to share a transaction, with its reads and what it locks; `isFound` if members and reads were found for it. */
interface Ready {
  command: AnyPlan;
  reads: readonly Sql[];
  /** The members and rows that no other command may lock at the same time. */
  exclusive: readonly string[];
  /** The rows that other commands may lock in this way as well. */
  shared: readonly string[];
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
  const finder = createBatcher<ToFind, Ready | undefined>(async (batch) => {
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
      return toReady({ ...withFound(command, found), decide: command.decide }, true);
    });
  });

  const share = async (batch: readonly (Ready & { until: number })[]): Promise<Outcome[]> => {
    const until = Math.min(...batch.map((one) => one.until));
    const [first] = batch;
    if (first && batch.length === 1 && !first.isFound)
      return [{ answer: await withDeadline(() => store.execute(first.command), until) }];
    try {
      return (await withDeadline(
        () => store.execute(combine(batch, engine), AS_BATCH),
        until,
      )) as Outcome[];
    } catch (error) {
      if (error instanceof OutcomeUnconfirmed) throw error;
      return [];
    }
  };
  // What a load writes could change what other commands of its transaction have read. Of two transactions that write in
  // their loads, each would often find taken what the other has just picked.
  const [group, writers] = [createBatcher(share), createBatcher(share, { maxConcurrent: 1 })];

  /** The command as it can share a transaction; undefined if it runs in its own. */
  async function prepare(command: AnyPlan, until: number): Promise<Ready | undefined> {
    if (until - performance.now() <= MIN_TIME_TO_BATCH_MS) return undefined;
    const statements = statementsToFind(command);
    if (statements.length === 0) return toReady(command, false);
    if (locksOf(command.load).includes('alone')) return undefined;
    const found = await finder.join({ command, statements, until }, []);
    return found && found.exclusive.length <= MAX_LOCKS ? found : undefined;
  }

  const execute: EventStore['execute'] = (command, execution) =>
    withinDeadline(async (until) => {
      const shared = await prepare(command as AnyPlan, until);
      const outcome =
        shared &&
        (await (shared.reads.some(({ writes }) => writes) ? writers : group).join(
          { ...shared, until },
          shared.exclusive,
        ));
      return (
        outcome
          ? outcome.answer
          : await withDeadline(() => store.execute(command, execution), until)
      ) as never;
    });

  return { ...store, execute };
}

/** Undefined if the locks of the command have no names, so that it must run in its own transaction. */
function toReady(command: AnyPlan, isFound: boolean): Ready | undefined {
  const locks = locksOf(command.load);
  const rows = locks.filter((one) => one !== 'alone');
  if (rows.length < locks.length) return undefined;
  return {
    command,
    reads: flattenReads(command.load),
    exclusive: [...(command.lock ?? []), ...rows.flatMap(({ exclusive = [] }) => exclusive)],
    shared: rows.flatMap(({ shared = [] }) => shared),
    isFound,
  };
}

/** Combines several commands into one, whose answer is the list of their outcomes. */
function combine(batch: readonly Ready[], engine: Engine): Plan<Outcome[]> {
  const lists = batch.map(({ reads }) => reads);
  const { statements, distribute } = combineReads(lists, engine);
  return definePlan({
    lock: batch.flatMap(({ command }) => command.lock ?? []),
    load: statements,
    decide({ rows, locked, now }): Decision<Outcome[], never> {
      const reads = distribute(rows as Record<string, unknown>[][]);
      const exclusive = new Set(batch.flatMap((one) => one.exclusive));
      const decisions = batch.map(({ command, shared }, index) => {
        const own = command.lock ?? [];
        if (!own.every((id) => locked.includes(id))) return undefined;
        // Another command of the batch may change what this one relies on.
        if (shared.some((row) => exclusive.has(row))) return undefined;
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

/** Combines reads of the same kind into one statement for all their keys, and sends equal reads without values once. */
function combineReads(lists: readonly (readonly Sql[])[], { distributed }: Engine) {
  // First the first reads of all commands, which lock the caller.
  const all = lists
    .flatMap((list, command) => list.map((read, at) => ({ read, command, at })))
    .sort((one, other) => one.at - other.at);
  const groups = [
    ...Map.groupBy(all, ({ read, command, at }) =>
      (read.many && !distributed) || read.values.length === 0 ? read.name : `${command} ${at}`,
    ).values(),
  ];

  /** Assigns the rows of the combined statements to each command's reads. */
  function distribute(results: readonly Row[][]): Row[][][] {
    const rows = lists.map((list) => list.map((): Row[] => []));
    for (const [index, group] of groups.entries()) {
      const result = results[index] ?? [];
      const isMerged = group.length > 1 && group[0]?.read.many;
      if (!isMerged) for (const { command, at } of group) (rows[command] as Row[][])[at] = result;
      else
        for (const { [TURN]: turn, ...row } of result) {
          const one = group[(turn as number) - 1];
          if (one) rows[one.command]?.[one.at]?.push(row);
        }
    }
    return rows;
  }

  return {
    statements: groups.map((group) => mergeReads(group.map(({ read }) => read))),
    distribute,
  };
}
