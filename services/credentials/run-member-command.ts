import type { Config } from '../../platform/config.ts';
import type { Append } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import type {
  Decision,
  EventStore,
  Job,
  Loaded,
  MemberRead,
} from '../../platform/eventstore/event-store.ts';
import {
  defineIdempotentCommand,
  executeIdempotently,
} from '../../platform/eventstore/idempotency.ts';
import type { Load, Rows } from '../../platform/eventstore/load.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { ReceiptRow } from '../../platform/eventstore/receipts.ts';
import { fault } from '../../platform/fault.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { LimitProblem } from '../../platform/http/rate-limit.ts';
import { jsonContent } from '../../platform/http/respond.ts';
import type { Content, LimitOf, RequestContext, Route } from '../../platform/http/route.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import type { JsonObject } from '../../platform/http/strict-json.ts';
import { REPLAYED, requestLine } from '../../platform/idempotent-calls.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import {
  budgetHeaders,
  budgetResetsAt,
  countWrite,
  exhaustedBudgetHeaders,
  WRITES_PER_DAY,
  writesToday,
} from '../../platform/limits/write-budget.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import { credentialHolder } from '../../projections/credentials/credentials.ts';

export interface MemberCommandDeps {
  store: EventStore;
  keys: KeyRing;
  config: Pick<Config, 'limitWritesPerDay'>;
}

/** The request data that a mutation under `/api/v1` needs; a handler's `Call` satisfies it. */
export interface IdempotentCall<R extends Route = Route> {
  operation: string;
  route: R;
  params: unknown;
  sent: JsonObject;
  request: Pick<RequestContext, 'idempotencyKey'>;
}

/** The member who issues a command, and how to authenticate it again after the member is locked. */
export interface CommandAuthor<Code extends string, Known = unknown> {
  memberId: string;
  load: Load;
  prove(rows: Known): null | Refusal<Code>;
  /** Rows to write with an accepted command, once `prove` has passed. */
  rows?(rows: Known): readonly Sql[];
}

/** Defines a caller; infers the rows of `prove` from `load`. */
export function defineCommandAuthor<Code extends string, const Of extends Load>(
  caller: CommandAuthor<Code, Rows<Of>> & { load: Of },
): CommandAuthor<Code> {
  return caller;
}

export interface Accepted<Status extends number, Body> {
  status: Status;
  appends: readonly Append[];
  rows?: readonly Sql[];
  jobs?: readonly Job[];
  body: Body | ((receipt: ReceiptBody, events: readonly RecordedEvent[]) => Body);
}

export interface MemberCommand<Status extends number, Body, Code extends string, Known = unknown> {
  /** Finds other members whose feeds receive the events; see `Command.find`. */
  find?: MemberRead | readonly MemberRead[];
  load: Load;
  decide(loaded: Loaded<Known>): Accepted<Status, Body> | Refusal<Code>;
}

/** Defines a command; infers the rows of `decide` from `load`. */
export function defineMemberCommand<
  const Status extends number,
  Body,
  Code extends string,
  const Of extends Load,
>(
  command: MemberCommand<Status, Body, Code, Rows<Of>> & { load: Of },
): MemberCommand<Status, Body, Code> {
  return command;
}

/** Distributes over the statuses, as the replies of a route do. */
type Replied<Status extends number, Body> = Status extends unknown
  ?
      | { status: Status; body: Body; headers?: Record<string, string> }
      | { status: Status; content: Content; headers: Record<string, string> }
  : never;

/** Refusals of every command; a route that uses the write budget also has that of the budget. */
export type CommandRefusal<R extends Route> =
  | 'idempotency_conflict'
  | Extract<LimitProblem<LimitOf<R>>, 'write_budget_exhausted'>;

/** Checks the bearer again once the member is locked, since it may have been revoked meanwhile. */
function bearerOf(principal: PrincipalOf<'credential'>): CommandAuthor<'credential_not_accepted'> {
  return defineCommandAuthor({
    memberId: principal.memberId,
    load: credentialHolder(principal.credentialId),
    prove([holder]) {
      return fault('no-second-proof') || holder?.member_id === principal.memberId
        ? null
        : refuse('credential_not_accepted');
    },
  });
}

/**
 * Runs a mutation under `/api/v1`: checks the caller, looks for a receipt, decides, checks the
 * write budget and commits everything in one transaction. The member's lock makes a concurrent
 * duplicate wait and then find the receipt.
 */
export function runMemberCommand<
  const Status extends number,
  Body,
  Code extends string,
  R extends Route,
>(
  deps: MemberCommandDeps,
  call: IdempotentCall<R> & { principal: PrincipalOf<'credential'> },
  command: MemberCommand<Status, Body, Code>,
): Promise<Replied<Status, Body> | Refusal<Code | 'credential_not_accepted' | CommandRefusal<R>>> {
  return runCommandAs(bearerOf(call.principal), deps, call, command);
}

/** Runs a mutation like `runMemberCommand`, for a caller who is not authenticated by a bearer. */
export async function runCommandAs<
  const Status extends number,
  Body,
  Code extends string,
  Proof extends string,
  R extends Route,
>(
  caller: CommandAuthor<Proof>,
  { store, keys, config }: MemberCommandDeps,
  call: IdempotentCall<R>,
  command: MemberCommand<Status, Body, Code>,
): Promise<Replied<Status, Body> | Refusal<Code | Proof | CommandRefusal<R>>> {
  const { operation, sent } = call;
  const { memberId } = caller;
  const { idempotencyKey: key } = call.request;
  const limit = config.limitWritesPerDay;
  const counted = call.route.limits?.includes(WRITES_PER_DAY) === true;
  const headersAfter = (used: number, now: Date) =>
    counted ? budgetHeaders(limit, used, now) : {};
  const request = {
    owner: memberOwner(memberId),
    space: 'api' as const,
    key,
    operation,
    route: requestLine(call),
    sent,
    keys,
  };

  const stored = defineIdempotentCommand({
    lock: [memberId],
    ...(command.find ? { find: command.find } : {}),
    load: { caller: caller.load, budgets: writesToday(memberId), command: command.load },
    guard: ({ rows }) => caller.prove(rows.caller),
    replay: (receipt, { rows: { budgets }, now }) => {
      const { headers, ...replay } = replayOf<Status>(receipt);
      return {
        ...replay,
        headers: { ...headersAfter(budgets[0]?.used ?? 0, now), ...headers },
      } as unknown as Replied<Status, Body>;
    },
    toReply: (answer: Replied<Status, Body>) => answer as { status: number; body: unknown },
    decide(
      { rows, ...loaded },
      bodyHash,
    ): Decision<Replied<Status, Body>, Code | Proof | CommandRefusal<R>> {
      const decided = command.decide({ ...loaded, rows: rows.command });
      if (isRefusal(decided)) return decided as Refusal<Code>;
      const used = rows.budgets[0]?.used ?? 0;
      const changes = decided.appends.some(({ events }) => events.length > 0);
      if (changes && counted && used >= limit)
        return refuse('write_budget_exhausted' as CommandRefusal<R>, {
          limit,
          used,
          resets_at: budgetResetsAt(loaded.now),
        });

      const receiptOf = (events: readonly RecordedEvent[]): ReceiptBody => ({
        operation_id: key ?? '',
        operation,
        member_id: memberId,
        recorded_at: loaded.now.toISOString(),
        body_hash: bodyHash(),
        event_ids: events.map((event) => event.event_id),
      });
      const { status, body } = decided as Accepted<Status, Body & object>;
      return {
        answer: (events: RecordedEvent[]) =>
          ({
            status,
            body: typeof body === 'function' ? body(receiptOf(events), events) : body,
            headers: headersAfter(changes ? used + 1 : used, loaded.now),
          }) as Replied<Status, Body>,
        appends: decided.appends,
        rows: [
          ...(caller.rows?.(rows.caller) ?? []),
          ...(decided.rows ?? []),
          ...(counted ? [countWrite(memberId, loaded.now)] : []),
        ],
        jobs: decided.jobs ?? [],
      };
    },
  });
  const outcome = await executeIdempotently(store, request, stored);
  return isRefusal(outcome) && outcome.refused === 'write_budget_exhausted'
    ? ({ ...outcome, headers: exhaustedBudgetHeaders(limit) } as Refusal<CommandRefusal<R>>)
    : outcome;
}

/** Replays the stored response, byte for byte. */
function replayOf<Status extends number>(receipt: ReceiptRow) {
  return {
    status: receipt.http_status as Status,
    content: jsonContent(receipt.reply),
    headers: REPLAYED,
  };
}
