import type { Append } from '../platform/eventstore/append.ts';
import type { Actor } from '../platform/eventstore/event.ts';
import type { Load, MemberRead, Rows } from '../platform/eventstore/load.ts';
import type { KeyRing } from '../platform/keys/key-ring.ts';
import type { Sql } from '../platform/sql.ts';

/**
 * Maximum number of records of a kind that end in the transaction of the deletion itself, so that it
 * costs about the same however many there are. At least the cases that a member may have claimed.
 */
export const FIRST_BATCH = 30;

/**
 * The same for each transaction of the erasure worker, which ends the rest: others who took part in the
 * cases wait for its locks. Reads hide those records meanwhile (projections/membership/members.ts).
 */
export const CLOSURE_BATCH = 50;

/** The options a member chose when deleting the account. */
export interface ClosingRequest {
  eraseNotes: boolean;
}

/**
 * How one capability reacts when an account is closed. All closures run in the transaction that
 * deactivates the member; a worker erases the remaining names and texts later.
 */
export interface AccountClosure<Known = unknown, Request = ClosingRequest> {
  /**
   * Finds other members to lock, whose feeds receive the events. Omit this statement if the events
   * appear only in the member's own feed.
   */
  find?(memberId: string, request: Request, limit: number): MemberRead;
  /** Reads the records to end: at most `limit` where their number is unbounded. */
  load(memberId: string, request: Request, limit: number): Load;
  /** Returns the events that end the records. `rows` are loaded while the locks are held. */
  close(memberId: string, rows: Known, now: Date, request: Request): readonly Append[];
  /** Statements that end primary data, such as leases. */
  rows?(memberId: string, rows: Known, now: Date, request: Request): readonly Sql[];
}

/** Defines a closing; infers the type of `rows` from `load`. */
export function defineAccountClosure<const Of extends Load>(
  closing: AccountClosure<Rows<Of>> & {
    load(memberId: string, request: ClosingRequest, limit: number): Of;
  },
): AccountClosure {
  return closing;
}

/**
 * What ends with the disabling of a membership, or with the recovery of its keys: like a closure, but all
 * of it in one transaction.
 */
export type AccessEnding<Known = unknown> = AccountClosure<Known, { keys: KeyRing }>;

/** Defines such an ending; infers the type of `rows` from `load`. */
export function defineAccessEnding<const Of extends Load>(
  ending: AccessEnding<Rows<Of>> & {
    load(memberId: string, request: { keys: KeyRing }, limit: number): Of;
  },
): AccessEnding {
  return ending;
}

/**
 * Joins the endings of all features for one member; the events are those of `actor`. All of it fits in one
 * transaction: a member has at most 50 live sessions, few credentials and passkeys, and 25 claimed cases.
 */
export function joinEndings(
  endings: readonly AccessEnding[],
  memberId: string,
  keys: KeyRing,
  actor: Actor,
) {
  const request = { keys };
  return {
    find: endings.flatMap((ending) => ending.find?.(memberId, request, FIRST_BATCH) ?? []),
    load: endings.map((ending) => ending.load(memberId, request, FIRST_BATCH)),
    close: (rows: readonly unknown[], now: Date) => ({
      appends: endings
        .flatMap((ending, index) => ending.close(memberId, rows[index], now, request))
        .filter(({ events }) => events.length > 0)
        .map((append) => ({ ...append, actor })),
      rows: endings.flatMap(
        (ending, index) => ending.rows?.(memberId, rows[index], now, request) ?? [],
      ),
    }),
  };
}
