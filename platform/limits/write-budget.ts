import { defineInsert, defineRead } from '../batch-statements.ts';
import { type Sql, sql } from '../sql.ts';

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
    action: 'DO UPDATE SET used = write_budgets.used + excluded.used',
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

/** When the write budget resets: the end of the UTC day of `now`, in ISO 8601. */
export function budgetResetsAt(now: Date): string {
  const day = 86_400_000;
  return new Date((Math.floor(now.getTime() / day) + 1) * day).toISOString();
}
