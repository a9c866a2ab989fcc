import type { Refusal } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import type { Append } from './append.ts';
import type { RecordedEvent } from './event.ts';
import type { Load, MemberRead, Rows } from './load.ts';
import type { Receipt } from './receipts.ts';

/** A job to enqueue in the command's transaction. */
export interface Job {
  queue: string;
  data: Record<string, unknown>;
  /** Delay in seconds. */
  startAfter?: number;
  /** Jobs of one queue start in descending priority, 0 by default. */
  priority?: number;
  /** Whether `mergeJobs` makes one job of this and others: every field of `data` is a list. */
  merges?: boolean;
  /** The traces of the requests that enqueue it: ids for the log, and each `traceparent` of a span. */
  traceIds?: readonly string[];
}

/** What a command writes, all in one transaction. */
export interface Writes<Answer> {
  answer: Answer | ((events: RecordedEvent[]) => Answer);
  appends: readonly Append[];
  /** Writes of primary data that is not events: verifiers, sessions, budgets. */
  rows?: readonly Sql[];
  /** Set if `load` or `rows` change state without an event, as a claim does, so that it gets a receipt. */
  changesRows?: boolean;
  receipt?: (events: RecordedEvent[]) => Receipt | readonly Receipt[];
  jobs?: readonly Job[];
}

/** The answer to a command that writes nothing: a replay, or a state that is already as wanted. */
export interface Unchanged<Answer> {
  unchanged: Answer;
}

export type Decision<Answer, Code extends string = string> =
  | Writes<Answer>
  | Unchanged<Answer>
  | Refusal<Code>;

/** The input of `decide`: the rows of `load`, and the time by the database's clock. */
export interface Loaded<Known = unknown> {
  rows: Known;
  /** The members whose rows are locked. */
  locked: readonly string[];
  now: Date;
}

/** What the event store executes in a transaction: what to lock and to load, and how to decide. */
export interface Plan<Answer, Code extends string = never, Known = unknown> {
  /** The ids of members to lock. */
  lock?: readonly string[];
  /**
   * Finds further members to lock, for example in a read model, before the transaction begins. If an
   * event concerns a member whom a concurrent command added meanwhile, the member is locked as well
   * and the command decided again.
   */
  find?: MemberRead | readonly MemberRead[];
  /** The reads, run in this order while the locks are held. */
  load: Load;
  decide(loaded: Loaded<Known>): Decision<Answer, Code>;
}

/** Defines a plan; infers the rows that `decide` gets from `load`. */
export function definePlan<Answer, Code extends string, const Of extends Load>(
  plan: Plan<Answer, Code, Rows<Of>> & { load: Of },
): Plan<Answer, Code> {
  return plan;
}

/** The answer to a command whose writes were committed. */
export function resolveAnswer<Answer>({ answer }: Writes<Answer>, events: RecordedEvent[]): Answer {
  return typeof answer === 'function'
    ? (answer as (events: RecordedEvent[]) => Answer)(events)
    : answer;
}
