import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { redactedHash } from '../body-hash.ts';
import {
  type Receipt,
  type ReceiptRow,
  readReceipt,
  receiptStatement,
} from '../eventstore/append.ts';
import { isRefusal, type Refusal, refuse } from '../eventstore/decider.ts';
import type { RecordedEvent } from '../eventstore/event.ts';
import type { Sql } from '../eventstore/sql.ts';
import type { Decision, EventStore, Plan, Writes } from '../eventstore/store.ts';
import type { PrincipalOf } from '../http/principal.ts';
import { pathOf, type RequestFacts, type Route } from '../http/route.ts';
import type { JsonObject } from '../http/strict-json.ts';
import {
  deadline,
  isServerError,
  isUnavailable,
  OutcomeUnconfirmed,
  StorageUnavailable,
  withClient,
} from '../postgres.ts';

/** What of a call binds its `Idempotency-Key`. */
export interface Keyed {
  operation: string;
  route: Route;
  params?: Record<string, string> | undefined;
  sent: JsonObject;
  principal: PrincipalOf<'moderator'>;
  request: Pick<RequestFacts, 'idempotencyKey'>;
}

/** An answer, and the header that says that it was given before. */
export interface Once<Answer> {
  answer: Answer;
  headers?: Record<string, string>;
}

const REPLAYED = { 'idempotency-replayed': 'true' };

/**
 * A command of the log with a moderator's key: its receipt is committed with its events. The answer
 * must hold no free text: a receipt is kept for ever.
 */
export function executeOnce<Answer, Code extends string>(
  store: EventStore,
  call: Keyed,
  plan: Plan<Answer, Code>,
  httpStatus: number,
): Promise<Once<Answer> | Refusal<Code | 'idempotency_conflict'>> {
  const key = call.request.idempotencyKey;
  return store.execute<Once<Answer>, Code | 'idempotency_conflict'>({
    ...plan,
    // Last, after the locks: whoever waited for the same request sees its receipt.
    load: key ? [...plan.load, findReceipt(call, key)] : plan.load,
    decide(loaded): Decision<Once<Answer>, Code | 'idempotency_conflict'> {
      const known = key ? (loaded.rows.at(-1)?.[0] as unknown as ReceiptRow) : undefined;
      if (known) {
        const replay = replayOf<Answer>(call, known);
        return isRefusal(replay) ? replay : { unchanged: replay };
      }
      const decision = plan.decide(loaded);
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return { unchanged: { answer: decision.unchanged } };
      return {
        ...decision,
        answer: (events: RecordedEvent[]) => ({ answer: answerOf(decision, events) }),
        ...(key
          ? {
              receipt: (events: RecordedEvent[]) =>
                receiptOf(call, key, answerOf(decision, events), httpStatus, events),
            }
          : {}),
      };
    },
  });
}

/** The same command with another answer. */
export function mapAnswer<From, To, Code extends string>(
  plan: Plan<From, Code>,
  map: (answer: From) => To,
): Plan<To, Code> {
  return {
    ...plan,
    decide(loaded): Decision<To, Code> {
      const decision = plan.decide(loaded);
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return { unchanged: map(decision.unchanged) };
      return {
        ...decision,
        answer: (events: RecordedEvent[]) => map(answerOf(decision, events)),
      };
    },
  };
}

function answerOf<Answer>({ answer }: Writes<Answer>, events: RecordedEvent[]): Answer {
  return typeof answer === 'function'
    ? (answer as (events: RecordedEvent[]) => Answer)(events)
    : answer;
}

/**
 * Work on leases, which are no events, in one transaction with the receipt of a moderator's key.
 * `lock` makes two calls with the same key wait for each other; a deadlock is tried again. Where the
 * answer to COMMIT is lost, the next try waits for the lock too, and then finds the receipt or none.
 */
export async function transactOnce<Answer, Code extends string>(
  pool: pg.Pool,
  call: Keyed,
  lock: Sql,
  work: (client: pg.PoolClient) => Promise<Answer | Refusal<Code>>,
): Promise<Once<Answer> | Refusal<Code | 'idempotency_conflict' | 'moderator_required'>> {
  const until = deadline();
  const key = call.request.idempotencyKey;
  const attempt = () =>
    withClient(pool, until, async (client) => {
      // On one connection statements run in the order in which they are sent: without a key to look
      // up, the work need not wait for the lock's answer.
      const [, , locked, receipts, clock, worked] = await Promise.all([
        client.query('BEGIN'),
        // A lease that a crash of the database loses is claimed again; a receipt must not be lost.
        key ? undefined : client.query('SET LOCAL synchronous_commit = off'),
        client.query(lock),
        key ? client.query<ReceiptRow>(findReceipt(call, key)) : undefined,
        key ? client.query<{ now: Date }>('SELECT clock_timestamp() AS now') : undefined,
        key ? undefined : work(client),
      ]);
      const known = receipts?.rows[0];
      if (locked.rows.length === 0 || known) {
        await client.query('ROLLBACK');
        return known ? replayOf<Answer>(call, known) : refuse('moderator_required');
      }
      const answer = worked ?? (await work(client));
      if (isRefusal(answer)) {
        await client.query('ROLLBACK');
        return answer as Refusal<Code>;
      }
      const now = clock?.rows[0]?.now;
      const [kept, last] = await Promise.allSettled([
        key && now
          ? client.query(receiptStatement(receiptOf(call, key, answer, 200, []), now))
          : undefined,
        client.query('COMMIT'),
      ]);
      if (kept.status === 'rejected' && isServerError(kept.reason)) throw kept.reason;
      if (last.status === 'rejected')
        throw isServerError(last.reason)
          ? last.reason
          : new OutcomeUnconfirmed('the answer to COMMIT was lost', { cause: last.reason });
      return { answer: answer as Answer };
    });
  return untilDone(until, attempt, key !== undefined);
}

/**
 * Work on leases, begun anew where it lost a race; and where the answer to COMMIT was lost, if it
 * can tell whether it was done.
 */
export async function untilDone<Result>(
  until: number,
  attempt: () => Promise<Result>,
  tells = false,
): Promise<Result> {
  let unconfirmed: OutcomeUnconfirmed | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const race = ['40P01', '40001', '23505'].includes((error as { code?: string }).code ?? '');
      if (error instanceof OutcomeUnconfirmed) unconfirmed = error;
      else if (!race && !isUnavailable(error)) throw error;
      const again = race || (unconfirmed && tells);
      if (!again || performance.now() + 50 >= until)
        throw unconfirmed ?? new StorageUnavailable('claim failed', { cause: error });
      await sleep(unconfirmed ? 50 : 10);
    }
  }
}

function routeOf({ route, params }: Keyed): string {
  return `${route.method} ${pathOf(route, params)}`;
}

function findReceipt({ principal }: Keyed, key: string): Sql {
  return readReceipt(principal.moderatorId, 'moderation', key);
}

function replayOf<Answer>(
  call: Keyed,
  known: ReceiptRow,
): Once<Answer> | Refusal<'idempotency_conflict'> {
  if (known.route !== routeOf(call) || known.body_hash !== redactedHash(call.sent))
    return refuse('idempotency_conflict');
  return { answer: known.reply as Answer, headers: REPLAYED };
}

function receiptOf(
  call: Keyed,
  key: string,
  reply: unknown,
  httpStatus: number,
  events: readonly RecordedEvent[],
): Receipt {
  return {
    owner: call.principal.moderatorId,
    space: 'moderation',
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
