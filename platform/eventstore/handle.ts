import { isRefusal, type Refusal } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import { attribute, type OwnAppend } from './append.ts';
import { type Command, type Decision, defineCommand, type Job, type Writes } from './command.ts';
import type { Actor, RecordedEvent } from './event.ts';
import type { EventStore } from './event-store.ts';
import { type IdempotentRequest, receiptsOf } from './idempotency.ts';
import type { Load, MemberRead, Rows } from './load.ts';
import type { ReceiptRow } from './receipts.ts';

/** What a command reads, by name: streams, as `defineStream` loads them, and rows. */
type Loads = Readonly<Record<string, Load>>;

/** The loaded values. If one is a refusal, such as `not_found`, the command is refused with it. */
type Loaded<Of extends Loads> = {
  readonly [Name in keyof Of]: Exclude<Rows<Of[Name]>, Refusal>;
};
type RefusalOf<Of extends Loads> = Extract<
  { [Name in keyof Of]: Rows<Of[Name]> }[keyof Of],
  Refusal
>;

/** An accepted command: what it writes, all in one transaction, and what it replies. */
export interface Accepted<Reply, Given> {
  appends: readonly OwnAppend[];
  /** Writes of primary data that is not events: verifiers, sessions, leases. */
  rows?: readonly Sql[];
  jobs?: readonly Job[];
  /** Builds the reply once the events have ids, from what the policy gives. */
  reply(given: Given): Reply;
}

/** What a command needs, and how it is decided. */
interface Handled<Of extends Loads, Reply, Code extends string, Given> {
  /** Finds further members to lock. A stream finds those whom its own events concern. */
  find?: MemberRead | readonly MemberRead[];
  load: Of;
  /** Decides on what was loaded; `now` is the time of the database. Does no I/O. */
  decide(loaded: Loaded<Of>, now: Date): Accepted<Reply, Given> | Refusal<Code>;
}

/**
 * Who issues a command, how that is proven, and how a repeated request is recognized. `Reply` has what the
 * request may be answered with.
 */
export interface Policy<Code extends string, Given, Reply, Known = unknown> {
  /** Whose events they are, unless the stream attributes them to another actor. */
  actor: Actor;
  /** The ids of the members to lock, so that nothing changes what is proven. */
  lock: readonly string[];
  /** What the functions of the policy need, read under the locks. */
  load: Load;
  /** Refuses a caller who may no longer act. Repeated requests are checked as well. */
  prove(rows: Known): Refusal<Code> | null;
  request: IdempotentRequest;
  /** The reply to a repeated request. */
  repeat(receipt: ReceiptRow, rows: Known, now: Date): Reply;
  /** Refuses an accepted command because of a limit, or returns what is written and given with it. */
  charge(rows: Known, accepted: AcceptedFacts): Charge<Given> | Refusal<Code>;
}

interface AcceptedFacts {
  /** Whether the command has events. */
  changes: boolean;
  now: Date;
  /** The hash of the request that the receipt stores. */
  bodyHash(): string;
}

interface Charge<Given> {
  rows: readonly Sql[];
  /** What the reply may contain, from the recorded events. */
  give(events: readonly RecordedEvent[]): Given;
  /** Headers of the reply, which its receipt does not store. */
  headers: Readonly<Record<string, string>>;
}

/** Defines a policy; infers the rows of its functions from `load`. */
export function definePolicy<Code extends string, Given, Reply, const Of extends Load>(
  policy: Policy<Code, Given, Reply, Rows<Of>> & { load: Of },
): Policy<Code, Given, Reply> {
  return policy;
}

/**
 * Executes a request that changes something: proves the caller, recognizes a repeat, decides, and commits
 * the events with everything that follows from them in one transaction.
 */
export async function handle<
  const Of extends Loads,
  Reply,
  Given,
  Unproven extends string,
  Code extends string = never,
>(
  store: EventStore,
  policy: Policy<Unproven, Given, Reply>,
  command: Handled<Of, NoInfer<Reply>, Code, NoInfer<Given>>,
): Promise<Reply | RefusalOf<Of> | Refusal<Code | Unproven>> {
  const receipts = receiptsOf(policy.request);
  const { find, load, decide } = command;

  const planned: Command<Reply, string> = defineCommand({
    // 1. Find further members to lock, in read models, before the transaction begins.
    ...(find ? { find } : {}),
    // 2. Begin. Lock the members in the order of their ids; a concurrent repeat waits here.
    lock: policy.lock,
    // 3. Load what proves the caller, the streams and rows, and the receipt of an earlier request.
    load: { policy: policy.load, command: load, receipts: receipts.read },

    decide({ rows, now }): Decision<Reply, string> {
      // 4. Prove the caller again, since the right to act may have ended before the lock was taken.
      const unproven = policy.prove(rows.policy);
      if (unproven) return unproven;

      // 5. Answer a repeat from the receipt; refuse another request with the same key.
      const receipt = receipts.find(rows.receipts);
      if (receipt)
        return receipts.isRepeat(receipt)
          ? { unchanged: policy.repeat(receipt, rows.policy, now) }
          : receipts.conflict;

      // 6. Refuse if no command can act on a stream: not found, gone.
      const loaded = rows.command as Readonly<Record<string, unknown>>;
      const missing = Object.values(loaded).find(isRefusal);
      if (missing) return missing;

      // 7. Decide.
      const decided = decide(loaded as Loaded<Of>, now);
      if (isRefusal(decided)) return decided;

      // 8. Charge the caller, who may have reached a limit.
      const changes = decided.appends.some(({ events }) => events.length > 0);
      const charge = policy.charge(rows.policy, { changes, now, bodyHash: receipts.bodyHash });
      if (isRefusal(charge)) return charge;

      // 9. Write the events, the rows, the jobs and the receipt, from which repeats are answered.
      const { appends, jobs = [], reply } = decided;
      const writes: Writes<Reply> = {
        appends: attribute(appends, policy.actor),
        rows: [...charge.rows, ...(decided.rows ?? [])],
        jobs,
        answer: (events) => ({ ...reply(charge.give(events)), headers: charge.headers }),
      };
      return receipts.keep(writes, (answer) => answer as { status: number; body: unknown });
    },
  });
  // 10. Execute it, alone or in a shared transaction. After a lost race, steps 2 to 9 are repeated.
  return store.execute(planned) as never;
}
