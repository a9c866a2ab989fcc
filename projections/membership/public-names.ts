import { type Sql, sql } from '../../platform/sql.ts';

export interface PublicNameRow {
  member_id: string;
  /** Null once the account is deleted. */
  handle: string | null;
  /** Whether the member has a public profile. */
  listed: boolean;
}

/** Finds how members may be named in public. */
export function publicNames(ids: readonly string[]): Sql<PublicNameRow> {
  return sql`SELECT m.member_id, m.handle, coalesce(p.state = 'published', false) AS listed
    FROM members m LEFT JOIN profiles p USING (member_id)
    WHERE m.member_id IN (SELECT unnest(${ids}::uuid[]))`;
}
