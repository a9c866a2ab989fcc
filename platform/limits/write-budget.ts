import type { RateLimit } from '../http/rate-limit.ts';
import { defineInsert, defineRead } from '../postgres/batch-statements.ts';
import { type Sql, sql } from '../sql.ts';
import type { Limit } from './rate-counters.ts';
import { exhausted, rateLimitHeaders } from './rate-headers.ts';

/** Declared by every mutation that uses the write budget. */
export const WRITES_PER_DAY = {
  kind: 'writes',
  window: '1 day',
  setting: 'limitWritesPerDay',
  per: 'member',
  counts: 'writes through `/api/v1` and `/a2a`',
} as const satisfies RateLimit;

const budgetToday = defineRead<{ used: number }>(
  { member_id: 'uuid' },
  ({ member_id }) => `SELECT used FROM write_budgets WHERE member_id = ${member_id}
    AND day = (clock_timestamp() AT TIME ZONE 'UTC')::date`,
);

/** Reads a member's writes of the current UTC day (database clock); no row if there are none. */
export const writesToday = (memberId: string): Sql<{ used: number }> =>
  budgetToday({ member_id: memberId });

const addWrite = defineInsert(
  'write_budgets',
  { member_id: 'uuid', day: 'date', used: 'int' },
  {
    key: ['member_id', 'day'],
    conflict: 'DO UPDATE SET used = write_budgets.used + excluded.used',
  },
);

/** Counts one write in the command's transaction, which holds the member's lock. */
export function countWrite(memberId: string, now: Date): Sql {
  return addWrite({ member_id: memberId, day: now.toISOString().slice(0, 10), used: 1 });
}

/** Deletes a batch of a member's counts; returns one row per count. */
export function dropBudgets(memberId: string, limit: number): Sql {
  return sql`DELETE FROM write_budgets WHERE member_id = ${memberId} AND day IN (
    SELECT day FROM write_budgets WHERE member_id = ${memberId} LIMIT ${limit}) RETURNING 1`;
}

const toLimit = (limit: number): Limit => ({ ...WRITES_PER_DAY, limit });

/** The headers that tell a member what is left of the write budget. */
export function budgetHeaders(limit: number, used: number, now: Date): Record<string, string> {
  const resetsIn = Math.ceil((Date.parse(budgetResetsAt(now)) - now.getTime()) / 1000);
  const remaining = Math.max(0, limit - used);
  return rateLimitHeaders([toLimit(limit)], [{ kind: 'writes', remaining, resetsIn }]);
}

/** The headers of a write that is refused because the budget is used up. */
export const exhaustedBudgetHeaders = (limit: number) =>
  exhausted([toLimit(limit)], toLimit(limit)).headers;

/** When the write budget resets: the end of the UTC day of `now`, in ISO 8601. */
export function budgetResetsAt(now: Date): string {
  const day = 86_400_000;
  return new Date((Math.floor(now.getTime() / day) + 1) * day).toISOString();
}
