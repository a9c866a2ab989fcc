import { type Sql, sql } from '../../platform/sql.ts';

/** Finds an event after the registration: without one, the member has never signed in. */
export const findUse = (memberId: string): Sql<{ type: string }> =>
  sql`SELECT type FROM events WHERE owner_id = ${memberId} AND type <> 'MemberRegistered' LIMIT 1`;

export interface UnusedMember {
  member_id: string;
  handle: string;
  registered_at: Date;
}

/** Members who registered more than `days` ago and did nothing since, oldest first. Reads all members. */
export const unusedMembers = (days: number): Sql<UnusedMember> =>
  sql`SELECT member_id, handle, registered_at FROM members m
    WHERE state = 'active' AND registered_at < now() - make_interval(days => ${days}::int)
      AND NOT EXISTS (SELECT FROM events e
        WHERE e.owner_id = m.member_id AND e.type <> 'MemberRegistered')
    ORDER BY registered_at, member_id`;
