import { bindSecrets, redactedHash, sameBody } from '../../platform/body-hash.ts';
import type { Config } from '../../platform/config.ts';
import { type Append, type ReceiptRow, readReceipt } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import {
  type Command,
  type Decision,
  defineCommand,
  type EventStore,
  type Job,
  type Loaded,
  type MemberRead,
} from '../../platform/eventstore/event-store.ts';
import type { Load, Rows } from '../../platform/eventstore/load.ts';
import { fault } from '../../platform/fault.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { jsonContent } from '../../platform/http/respond.ts';
import {
  type Content,
  fillPath,
  type RequestContext,
  type Route,
} from '../../platform/http/route.ts';
import type { Receipt } from '../../platform/http/schemas.ts';
import type { JsonObject } from '../../platform/http/strict-json.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { budgetResetsAt, countWrite, writesToday } from '../../platform/limits/write-budget.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import { credentialHolder } from '../../projections/credentials/credentials.ts';

export interface MemberCommandDeps {
  store: EventStore;
  keys: KeyRing;
  config: Pick<Config, 'limitWritesPerDay'>;
}

/** The request data that a mutation under `/api/v1` needs; a handler's `Call` satisfies it. */
export interface IdempotentCall {
  operation: string;
  route: Route;
  params: unknown;
  sent: JsonObject;
  request: Pick<RequestContext, 'idempotencyKey'>;
}

/** The member who issues a command, and how to authenticate it again after the member is locked. */
export interface CommandAuthor<Code extends string, Known = unknown> {
  memberId: string;
  load: Load;
  prove(rows: Known): null | Refusal<Code>;
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
  body: Body | ((receipt: Receipt, events: readonly RecordedEvent[]) => Body);
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

type Replied<Status extends number, Body> =
  | { status: Status; body: Body }
  | { status: Status; content: Content; headers: Record<string, string> };

export type CommandRefusal = 'idempotency_conflict' | 'write_budget_exhausted';

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
export function runMemberCommand<const Status extends number, Body, Code extends string>(
  deps: MemberCommandDeps,
  call: IdempotentCall & { principal: PrincipalOf<'credential'> },
  command: MemberCommand<Status, Body, Code>,
): Promise<Replied<Status, Body> | Refusal<Code | 'credential_not_accepted' | CommandRefusal>> {
  return runCommandAs(bearerOf(call.principal), deps, call, command);
}

/** Runs a mutation like `runMemberCommand`, for a caller who is not authenticated by a bearer. */
export async function runCommandAs<
  const Status extends number,
  Body,
  Code extends string,
  Proof extends string,
>(
  caller: CommandAuthor<Proof>,
  { store, keys, config }: MemberCommandDeps,
  call: IdempotentCall,
  command: MemberCommand<Status, Body, Code>,
): Promise<Replied<Status, Body> | Refusal<Code | Proof | CommandRefusal>> {
  const { operation, sent } = call;
  const { memberId } = caller;
  const key = call.request.idempotencyKey;
  if (!key) throw new Error(`${operation}: a mutation without an idempotency key`);
  const route = `${call.route.method} ${fillPath(call.route, call.params)}`;

  const stored: Command<Replied<Status, Body>, Code | Proof | CommandRefusal> = defineCommand({
    lock: [memberId],
    ...(command.find ? { find: command.find } : {}),
    load: {
      caller: caller.load,
      receipts: readReceipt(memberId, 'api', key),
      budgets: writesToday(memberId),
      command: command.load,
    },
    decide({ rows, ...loaded }): Decision<Replied<Status, Body>, Code | Proof | CommandRefusal> {
      const refused = caller.prove(rows.caller);
      if (refused) return refused;
      const [receipt] = rows.receipts;
      const [budget] = rows.budgets;
      if (receipt && !fault('no-receipt')) {
        return receipt.route === route && sameBody(keys, memberId, sent, receipt)
          ? { unchanged: replayOf<Status>(receipt) }
          : refuse('idempotency_conflict');
      }
      const decided = command.decide({ ...loaded, rows: rows.command });
      if (isRefusal(decided)) return decided as Refusal<Code>;
      const counted = !call.route.budgetExempt;
      const used = budget?.used ?? 0;
      if (counted && used >= config.limitWritesPerDay)
        return refuse('write_budget_exhausted', {
          limit: config.limitWritesPerDay,
          used,
          resets_at: budgetResetsAt(loaded.now),
        });

      const bodyHash = redactedHash(sent);
      const receiptOf = (events: readonly RecordedEvent[]): Receipt => ({
        operation_id: key,
        operation,
        member_id: memberId,
        recorded_at: loaded.now.toISOString(),
        body_hash: bodyHash,
        event_ids: events.map((event) => event.event_id),
      });
      // Build the body once, so that the response and the stored receipt are identical.
      let made: Body | undefined;
      const bodyOf = (events: readonly RecordedEvent[]): Body => {
        const { body } = decided as Accepted<Status, Body & object>;
        made ??= typeof body === 'function' ? body(receiptOf(events), events) : body;
        return made;
      };
      return {
        answer: (events) => ({ status: decided.status, body: bodyOf(events) }),
        appends: decided.appends,
        rows: [...(decided.rows ?? []), ...(counted ? [countWrite(memberId, loaded.now)] : [])],
        jobs: decided.jobs ?? [],
        receipt: (events) => ({
          owner: memberId,
          space: 'api',
          key,
          operation,
          route,
          bodyHash,
          bound: bindSecrets(keys, memberId, sent),
          httpStatus: decided.status,
          reply: bodyOf(events),
          eventIds: receiptOf(events).event_ids,
        }),
      };
    },
  });
  return store.execute(stored);
}

/** Replays the stored response, byte for byte. */
function replayOf<Status extends number>(receipt: ReceiptRow) {
  return {
    status: receipt.http_status as Status,
    content: jsonContent(receipt.reply),
    headers: { 'idempotency-replayed': 'true' },
  };
}
