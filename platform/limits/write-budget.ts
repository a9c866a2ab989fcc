import { defineInsert, defineRead } from '../batch-statements.ts';
import { type Sql, sql } from '../sql.ts';

const budgetToday = defineRead<{ used: number }>(
  { member_id: 'uuid' },
  ({ member_id }) => `SELECT used FROM write_budgets WHERE member_id = ${member_id}
    AND day = (clock_timestamp() AT TIME ZONE 'UTC')::date`,
);

/** A member's writes of the current UTC day, by the database's clock; no row where there were none. */
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

/** Counts one write, in the command's transaction, which holds the member's lock. */
export function countWrite(memberId: string, now: Date): Sql {
  return addWrite({ member_id: memberId, day: now.toISOString().slice(0, 10), used: 1 });
}

/** Drops a member's counts, a batch at a time, one row for each. */
export function dropBudgets(memberId: string, limit: number): Sql {
  return sql`DELETE FROM write_budgets WHERE member_id = ${memberId} AND day IN (
    SELECT day FROM write_budgets WHERE member_id = ${memberId} LIMIT ${limit}) RETURNING 1`;
}

/** The end of a time's UTC day, when the budget is whole again. */
export function budgetResetsAt(now: Date): string {
  const day = 86_400_000;
  return new Date((Math.floor(now.getTime() / day) + 1) * day).toISOString();
}
