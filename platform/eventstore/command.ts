import { isRefusal, type Refusal } from '../refusal.ts';
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
  /** Merges the jobs of one queue in one transaction: every field of `data` must be a list. */
  gathers?: boolean;
  /** The traces of the requests that enqueue it, for the log. */
  traceIds?: readonly string[];
}

/** What a command writes, all in one transaction. */
export interface Writes<Answer> {
  answer: Answer | ((events: RecordedEvent[]) => Answer);
  appends: readonly Append[];
  /** Writes of primary data that is not events: verifiers, sessions, budgets. */
  rows?: readonly Sql[];
  /** Set if the command changes state without an event, as a claim does, so that it gets a receipt. */
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

/** A command for the event store: what to lock and to load, and how to decide. */
export interface Command<Answer, Code extends string = never, Known = unknown> {
  /** The ids of members to lock. */
  lock?: readonly string[];
  /**
   * Finds further members to lock, for example in a read model, before the transaction begins. If an
   * event concerns a member whom a concurrent command added meanwhile, the member is locked as well
   * and the command decided again.
   */
  find?: MemberRead | readonly MemberRead[];
  /**
   * Set for a batch of commands: skips members that another transaction has locked, and waits for
   * any other lock at most 200 ms.
   */
  impatient?: boolean;
  /**
   * False if the writes may be lost in a crash of the database right after the commit; then COMMIT
   * does not wait for the disk. Not for events or receipts.
   */
  durable?: boolean;
  /**
   * True if the statements of `load` write all that there is to write, so that COMMIT is sent with
   * them. Then `decide` only answers: it must not return anything to write, and `load` must write nothing where
   * `decide` refuses or loses a race. Throws `OutcomeUnconfirmed` if the answer is lost.
   */
  commitWithLoad?: boolean;
  /** The reads, run in this order while the locks are held. */
  load: Load;
  decide(loaded: Loaded<Known>): Decision<Answer, Code>;
}

/** Types the rows that `decide` gets from the command's `load`. */
export function defineCommand<Answer, Code extends string, const Of extends Load>(
  command: Command<Answer, Code, Rows<Of>> & { load: Of },
): Command<Answer, Code> {
  return command;
}

/** The answer to a command whose writes were committed. */
export function resolveAnswer<Answer>({ answer }: Writes<Answer>, events: RecordedEvent[]): Answer {
  return typeof answer === 'function'
    ? (answer as (events: RecordedEvent[]) => Answer)(events)
    : answer;
}

/** Maps the answer of a command. */
export function mapAnswer<From, To, Code extends string>(
  command: Command<From, Code>,
  map: (answer: From) => To,
): Command<To, Code> {
  return {
    ...command,
    decide(loaded): Decision<To, Code> {
      const decision = command.decide(loaded);
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return { unchanged: map(decision.unchanged) };
      return {
        ...decision,
        answer: (events: RecordedEvent[]) => map(resolveAnswer(decision, events)),
      };
    },
  };
}
