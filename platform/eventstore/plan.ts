import type { Refusal } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import type { Append, Receipt } from './append.ts';
import type { RecordedEvent } from './event.ts';
import type { Load, Rows } from './load.ts';

/** A job to enqueue in the same transaction. */
export interface Job {
  queue: string;
  data: Record<string, unknown>;
  /** Seconds from now. */
  startAfter?: number;
  /** Every member of `data` is a list: such jobs of one queue in one transaction become one job. */
  gathers?: boolean;
}

/** What a command writes. Everything in it is committed together, or nothing is. */
export interface Writes<Answer> {
  answer: Answer | ((events: RecordedEvent[]) => Answer);
  appends: readonly Append[];
  /** Rows of primary data that are no events: verifiers, sessions, budgets. */
  rows?: readonly Sql[];
  receipt?: (events: RecordedEvent[]) => Receipt | readonly Receipt[];
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

/** What `decide` sees: the rows of what `load` names, and the database's clock. */
export interface Loaded<Known = unknown> {
  rows: Known;
  /** The members whose rows are locked. */
  locked: readonly string[];
  now: Date;
}

export interface Plan<Answer, Code extends string = never, Known = unknown> {
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
  /**
   * Set for a batch of commands: members that another transaction has locked are skipped, and no
   * other lock is waited for longer than 200 ms.
   */
  impatient?: boolean;
  /** Read after the lock is held, in this order. */
  load: Load;
  decide(loaded: Loaded<Known>): Decision<Answer, Code>;
}

/** A plan whose `decide` knows the rows of its own `load`. */
export function definePlan<Answer, Code extends string, const Of extends Load>(
  plan: Plan<Answer, Code, Rows<Of>> & { load: Of },
): Plan<Answer, Code> {
  return plan;
}

/** The answer of accepted writes. */
export function answerOf<Answer>({ answer }: Writes<Answer>, events: RecordedEvent[]): Answer {
  return typeof answer === 'function'
    ? (answer as (events: RecordedEvent[]) => Answer)(events)
    : answer;
}
