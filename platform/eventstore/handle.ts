import { isRefusal, type Refusal } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import { attribute, type OwnAppend } from './append.ts';
import type { Actor, RecordedEvent } from './event.ts';
import type { EventStore } from './event-store.ts';
import { type IdempotentRequest, NO_RECEIPTS, receiptsOf } from './idempotency.ts';
import type { Load, MemberRead, Rows } from './load.ts';
import { type Decision, definePlan, type Job, type Plan, type Writes } from './plan.ts';

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

type Events = readonly RecordedEvent[];

/** An accepted command: what it writes, all in one transaction, and what it replies. */
export interface Accepted<Reply, Given = Events> {
  appends: readonly OwnAppend[];
  /** Writes of primary data that is not events: verifiers, sessions, leases. */
  rows?: readonly Sql[];
  jobs?: readonly Job[];
  /** Set if the statements of `load` have changed state, as a claim does. */
  changesRows?: boolean;
  /** Builds the reply once the events have ids, from what the policy gives: by default the events. */
  reply(given: Given): Reply;
}

/** The decision of a job's command that there is nothing to do: the reply is false. */
export const NOTHING_TO_DO = { appends: [], reply: () => false };

/** The status and the body of a reply, as a receipt stores them. */
interface Stored {
  status: number;
  body: unknown;
}

/** What a command needs, and how it is decided. `Caller` is what its policy has proven. */
export interface Command<
  Reply,
  Code extends string = never,
  Caller = unknown,
  Given = Events,
  Of extends Loads = Loads,
> {
  /** The ids of further members to lock. */
  lock?: readonly string[];
  /** Finds further members to lock. A stream finds those whom its own events concern. */
  find?: MemberRead | readonly MemberRead[];
  load: Of;
  /** Decides on what was loaded; `now` is the time of the database. Does no I/O. */
  decide(loaded: Loaded<Of>, now: Date, caller: Caller): Accepted<Reply, Given> | Refusal<Code>;
  /** What the receipt stores of the reply; by default the body. */
  store?(reply: Reply): unknown;
  /** Changes what the receipt has stored into the reply of a repeat. */
  restore?(stored: Stored, loaded: Loaded<Of>, now: Date): Stored | Refusal<Code>;
}

/** Defines a command apart from where it is handled; infers what `decide` gets from `load`. */
export function defineCommand<
  const Of extends Loads,
  Reply,
  Caller = unknown,
  Given = Events,
  Code extends string = never,
>(
  command: Command<Reply, Code, Caller, Given, Of>,
): Command<Reply, Code | RefusalOf<Of>['refused'], Caller, Given> {
  return command as never;
}

/**
 * Who issues a command, how that is proven, and how a repeated request is recognized. `Reply` has what the
 * request may be answered with. Jobs and the command line need no more than an actor.
 */
export interface Policy<
  Code extends string,
  Reply,
  Caller = null,
  Given = Events,
  Known = unknown,
> {
  /** Whose events they are, unless the stream attributes them to another actor. */
  actor: Actor;
  /** The ids of the members to lock, so that nothing changes what is proven. */
  lock?: readonly string[];
  /** What the functions of the policy need, read under the locks. */
  load?: Load;
  /**
   * Refuses a caller who may no longer act; returns what the command may know of the caller. Repeated
   * requests are checked as well: `isRepeat` says whether the request is one.
   */
  prove?(rows: Known, isRepeat: () => boolean): Caller | Refusal<Code>;
  /** Undefined if requests are not recognized: there is no receipt, and a repeat is decided again. */
  request?: IdempotentRequest;
  /** The reply to a repeated request; by default what the receipt stores. */
  repeat?(stored: Stored, rows: Known, now: Date): Reply;
  /** Refuses an accepted command because of a limit, or returns what is written and given with it. */
  charge?(rows: Known, accepted: AcceptedFacts): Charge<Given> | Refusal<Code>;
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
  give(events: Events): Given;
  /** Headers of the reply, which its receipt does not store. */
  headers: Readonly<Record<string, string>>;
}

/** Defines a policy; infers the rows of its functions from `load`. */
export function definePolicy<
  Code extends string,
  const Of extends Load,
  Reply = unknown,
  Caller = null,
  Given = Events,
>(
  policy: Policy<Code, Reply, Caller, Given, Rows<Of>> & { load: Of },
): Policy<Code, Reply, Caller, Given> {
  return policy;
}

/**
 * Executes a command: proves the caller, recognizes a repeat, decides, and commits the events with
 * everything that follows from them in one transaction. A request has a policy; a job and the command line
 * act as an actor, with nothing to prove or to recognize.
 */
export function handle<
  const Of extends Loads,
  Reply,
  Given,
  Caller,
  Unproven extends string,
  Code extends string = never,
>(
  store: EventStore,
  policy: Policy<Unproven, Reply, Caller, Given>,
  command: Command<NoInfer<Reply>, Code, NoInfer<Caller>, NoInfer<Given>, Of>,
): Promise<Reply | RefusalOf<Of> | Refusal<Code | Unproven>>;
export function handle<const Of extends Loads, Reply, Code extends string = never>(
  store: EventStore,
  actor: Actor,
  command: Command<Reply, Code, null, Events, Of>,
): Promise<Reply | RefusalOf<Of> | ([Code] extends [never] ? never : Refusal<Code>)>;
export async function handle<Reply, Caller, Given>(
  store: EventStore,
  by: Policy<string, Reply, Caller, Given> | Actor,
  command: Command<Reply, string, Caller, Given>,
): Promise<Reply | Refusal> {
  const policy: Policy<string, Reply, Caller, Given> = 'actor' in by ? by : { actor: by };
  const receipts = policy.request ? receiptsOf(policy.request) : NO_RECEIPTS;
  const { find, load, decide } = command;

  const plan: Plan<Reply, string> = definePlan({
    // 1. Find further members to lock, in read models, before the transaction begins.
    ...(find ? { find } : {}),
    // 2. Begin. Lock the members in the order of their ids; a concurrent repeat waits here.
    lock: [...(policy.lock ?? []), ...(command.lock ?? [])],
    // 3. Load what proves the caller, the streams and rows, and the receipt of an earlier request.
    load: { policy: policy.load ?? null, command: load, receipts: receipts.read },

    decide({ rows, now }): Decision<Reply, string> {
      const loaded = rows.command as Loaded<Loads>;
      const receipt = receipts.find(rows.receipts);

      // 4. Prove the caller again, since the right to act may have ended before the lock was taken.
      const caller = policy.prove?.(rows.policy, () => receipts.isRepeat(receipt));
      if (isRefusal(caller)) return caller;

      // 5. Answer a repeat from the receipt; refuse another request with the same key.
      if (receipt) {
        if (!receipts.isRepeat(receipt)) return receipts.conflict;
        const kept: Stored = { status: receipt.http_status, body: receipt.reply };
        const stored = command.restore ? command.restore(kept, loaded, now) : kept;
        if (isRefusal(stored)) return stored;
        return { unchanged: (policy.repeat?.(stored, rows.policy, now) ?? stored) as Reply };
      }

      // 6. Refuse if no command can act on a stream: not found, gone.
      const missing = Object.values(loaded).find(isRefusal);
      if (missing) return missing;

      // 7. Decide.
      const decided = decide(loaded, now, caller as Caller);
      if (isRefusal(decided)) return decided;

      // 8. Charge the caller, who may have reached a limit.
      const { appends, jobs = [], reply } = decided;
      const changes =
        decided.changesRows === true || appends.some(({ events }) => events.length > 0);
      const charge = policy.charge?.(rows.policy, { changes, now, bodyHash: receipts.bodyHash });
      if (isRefusal(charge)) return charge;

      // 9. Write the events, the rows, the jobs and the receipt, from which repeats are answered.
      const writes: Writes<Reply> = {
        appends: attribute(appends, policy.actor),
        rows: [...(charge?.rows ?? []), ...(decided.rows ?? [])],
        jobs,
        changesRows: changes,
        answer: (events) =>
          charge
            ? { ...reply(charge.give(events)), headers: charge.headers }
            : reply(events as Given),
      };
      return receipts.keep(writes, (answer) => {
        const { status, body } = answer as Stored;
        return { status, body: command.store ? command.store(answer) : body };
      });
    },
  });
  // 10. Execute it. compose.ts builds this store: `withGroupCommit` (throughput/group-commit.ts), which lets it share a
  // transaction, around `createEventStore`, whose `transact` runs from BEGIN to COMMIT. After a lost race, steps 2 to 9
  // are repeated.
  return store.execute(plan);
}
