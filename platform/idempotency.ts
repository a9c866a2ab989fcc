import { redactedHash } from './body-hash.ts';
import { type Receipt, type ReceiptRow, readReceipt } from './eventstore/append.ts';
import { resolveAnswer } from './eventstore/command.ts';
import type { RecordedEvent } from './eventstore/event.ts';
import {
  type Command,
  type Decision,
  defineCommand,
  type EventStore,
} from './eventstore/event-store.ts';
import type { PrincipalOf } from './http/principal.ts';
import { fillPath, type RequestContext, type Route } from './http/route.ts';
import type { JsonObject } from './http/strict-json.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';
import type { Sql } from './sql.ts';

type Holder = PrincipalOf<'moderator'> | PrincipalOf<'session'>;

/** What the `Idempotency-Key` of a call covers. A key belongs to one member or moderator. */
export interface Keyed<Principal extends Holder = Holder> {
  operation: string;
  route: Route;
  params?: Record<string, string> | undefined;
  sent: JsonObject;
  principal: Principal;
  request: Pick<RequestContext, 'idempotencyKey'>;
}

/** An answer, with the `Idempotency-Replayed` header if it repeats an earlier answer. */
export interface Once<Answer> {
  answer: Answer;
  headers?: Record<string, string>;
}

const REPLAYED = { 'idempotency-replayed': 'true' };

/**
 * Executes a command with an optional idempotency key. The receipt is committed with the events; a
 * retry with the same key and body gets the stored answer, and with another body it is refused with
 * `idempotency_conflict`. Receipts are permanent, so the answer must not contain free text.
 */
export function executeOnce<Answer, Code extends string>(
  store: EventStore,
  call: Keyed,
  command: Command<Answer, Code>,
  httpStatus: number,
): Promise<Once<Answer> | Refusal<Code | 'idempotency_conflict'>> {
  return store.execute(onceCommand(call, command, httpStatus));
}

/** The command that `executeOnce` executes, for callers that execute or combine commands themselves. */
export function onceCommand<Answer, Code extends string>(
  call: Keyed,
  command: Command<Answer, Code>,
  httpStatus: number,
): Command<Once<Answer>, Code | 'idempotency_conflict'> {
  const key = call.request.idempotencyKey;
  return defineCommand({
    ...command,
    // Loaded after the locks, so that a concurrent duplicate request sees the winner's receipt.
    load: { command: command.load, receipts: key ? findReceipt(call, key) : null },
    decide({ rows, ...loaded }): Decision<Once<Answer>, Code | 'idempotency_conflict'> {
      const [known] = rows.receipts;
      if (known) {
        const replay = replayOf<Answer>(call, known);
        return isRefusal(replay) ? replay : { unchanged: replay };
      }
      const decision = command.decide({ ...loaded, rows: rows.command });
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return { unchanged: { answer: decision.unchanged } };
      return {
        ...decision,
        answer: (events: RecordedEvent[]) => ({ answer: resolveAnswer(decision, events) }),
        ...(key
          ? {
              receipt: (events: RecordedEvent[]) =>
                receiptOf(call, key, resolveAnswer(decision, events), httpStatus, events),
            }
          : {}),
      };
    },
  });
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

function routeOf({ route, params }: Keyed): string {
  return `${route.method} ${fillPath(route, params)}`;
}

const holderOf = ({ principal }: Keyed): Pick<Receipt, 'owner' | 'space'> =>
  principal.kind === 'moderator'
    ? { owner: principal.moderatorId, space: 'moderation' }
    : { owner: principal.memberId, space: 'guestbook' };

/** Reads the receipt of the caller's key, if there is one. */
export function findReceipt(call: Keyed, key: string): Sql<ReceiptRow> {
  const { owner, space } = holderOf(call);
  return readReceipt(owner, space, key);
}

/** The stored answer of a receipt, or `idempotency_conflict` if route or body differ. */
export function replayOf<Answer>(
  call: Keyed,
  known: ReceiptRow,
): Once<Answer> | Refusal<'idempotency_conflict'> {
  if (known.route !== routeOf(call) || known.body_hash !== redactedHash(call.sent))
    return refuse('idempotency_conflict');
  return { answer: known.reply as Answer, headers: REPLAYED };
}

/** The receipt to commit with a command's events. */
export function receiptOf(
  call: Keyed,
  key: string,
  reply: unknown,
  httpStatus: number,
  events: readonly RecordedEvent[],
): Receipt {
  return {
    ...holderOf(call),
    key,
    operation: call.operation,
    route: routeOf(call),
    bodyHash: redactedHash(call.sent),
    bound: null,
    httpStatus,
    reply,
    eventIds: events.map((event) => event.event_id),
  };
}
