import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { contentHash } from '../../../platform/body-hash.ts';
import {
  type Receipt,
  type ReceiptRow,
  readReceipt,
  receiptStatement,
} from '../../../platform/eventstore/append.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import {
  type Keyed,
  type Once,
  REPLAYED,
  requestLine,
} from '../../../platform/idempotent-calls.ts';
import {
  isRace,
  isServerError,
  isUnavailable,
  OutcomeUnconfirmed,
  StorageUnavailable,
} from '../../../platform/postgres/errors.ts';
import { RolledBack } from '../../../platform/postgres/pipeline.ts';
import { withClient } from '../../../platform/postgres/pool.ts';
import { deadline } from '../../../platform/postgres/request-deadline.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import type { Sql } from '../../../platform/sql.ts';

/**
 * Runs work on leases, which are not events, in one transaction with the receipt of the idempotency
 * key. `lock` makes calls with the same key wait for each other; a deadlock is retried. If the
 * reply to COMMIT is lost, the retry waits for the lock and then finds the receipt or none. Without
 * a key, this retry happens only if the work is `repeatable`: a second run gives the same answer.
 */
export async function transactOnce<Answer, Code extends string>(
  pool: pg.Pool,
  call: Call,
  lock: Sql,
  work: (client: pg.PoolClient) => Promise<Answer | Refusal<Code>>,
  { repeatable = false } = {},
): Promise<Once<Answer> | Refusal<Code | 'idempotency_conflict' | 'moderator_required'>> {
  const until = deadline();
  const key = call.request.idempotencyKey;
  const attempt = () =>
    withClient(pool, until, async (client) => {
      // A connection runs statements in the order in which they are sent, so without a key to look
      // up, the work does not wait for the reply to the lock.
      const [, , locked, receipts, clock, worked] = await Promise.all([
        client.query('BEGIN'),
        // A lease lost in a database crash is claimed again; a receipt must not be lost.
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
        key && now ? client.query(receiptStatement(receiptOf(call, key, answer), now)) : undefined,
        client.query('COMMIT'),
      ]);
      if (kept.status === 'rejected' && isServerError(kept.reason)) throw kept.reason;
      if (last.status === 'rejected')
        throw isServerError(last.reason)
          ? last.reason
          : new OutcomeUnconfirmed('the answer to COMMIT was lost', { cause: last.reason });
      if (kept.status === 'rejected') throw kept.reason;
      if (last.value.command !== 'COMMIT') throw new RolledBack('not committed');
      return { answer: answer as Answer };
    });
  return untilDone(until, attempt, key !== undefined || repeatable);
}

/**
 * Runs work on leases until `until` (a `deadline`). Retries after a lost race; after a lost reply
 * to COMMIT, retries only if `tells`: the attempt can find out whether the work was done.
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
      const race = isRace(error);
      if (error instanceof OutcomeUnconfirmed) unconfirmed = error;
      else if (!race && !isUnavailable(error)) throw error;
      const again = race || (unconfirmed && tells);
      if (!again || performance.now() + 50 >= until)
        throw unconfirmed ?? new StorageUnavailable('claim failed', { cause: error });
      await sleep(unconfirmed ? 50 : 10);
    }
  }
}

type Call = Keyed<PrincipalOf<'moderator'>>;

function findReceipt({ principal }: Call, key: string): Sql<ReceiptRow> {
  return readReceipt(principal.moderatorId, 'moderation', key);
}

function replayOf<Answer>(
  call: Call,
  receipt: ReceiptRow,
): Once<Answer> | Refusal<'idempotency_conflict'> {
  return receipt.route === requestLine(call) && receipt.body_hash === contentHash(call.sent)
    ? { answer: receipt.reply as Answer, headers: REPLAYED }
    : refuse('idempotency_conflict');
}

function receiptOf(call: Call, key: string, reply: unknown): Receipt {
  return {
    owner: call.principal.moderatorId,
    space: 'moderation',
    key,
    operation: call.operation,
    route: requestLine(call),
    bodyHash: contentHash(call.sent),
    bound: null,
    httpStatus: 200,
    reply,
    eventIds: [],
  };
}
