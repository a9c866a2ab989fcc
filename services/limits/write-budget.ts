import { type Sql, sql } from '../eventstore/sql.ts';

/** Writes of a member on the present UTC day, by the database's clock; no row where there were none. */
export function writesToday(memberId: string): Sql<{ used: number }> {
  return sql`SELECT used FROM write_budgets WHERE member_id = ${memberId}::uuid
    AND day = (clock_timestamp() AT TIME ZONE 'UTC')::date`;
}

/** Counts one write, in the command's transaction, which holds the member's lock. */
export function countWrite(memberId: string, now: Date): Sql {
  return sql`INSERT INTO write_budgets AS budget (member_id, day, used)
    VALUES (${memberId}, (${now}::timestamptz AT TIME ZONE 'UTC')::date, 1)
    ON CONFLICT (member_id, day) DO UPDATE SET used = budget.used + 1`;
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
