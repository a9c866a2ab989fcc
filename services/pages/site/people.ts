import type pg from 'pg';
import { query } from '../../../platform/postgres/query.ts';
import { publicNames } from '../../../projections/membership/public-names.ts';
import type { People } from './view.ts';

/**
 * Finds the public names of members. A handle is public with its profile alone, so any other member
 * is named by the beginning of the id.
 */
export async function findPeople(
  pool: pg.Pool,
  ids: readonly (string | null | undefined)[],
): Promise<People> {
  const given = [...new Set(ids.filter((id) => typeof id === 'string'))];
  if (given.length === 0) return {};
  const rows = await query(pool, publicNames(given));
  const known = new Map(rows.map((row) => [row.member_id, row]));
  return Object.fromEntries(
    given.map((id) => {
      const row = known.get(id);
      if (!row?.handle) return [id, { name: 'former member' }];
      return [
        id,
        row.listed
          ? { name: row.handle, href: `/members/${row.handle}` }
          : { name: `member ${id.slice(0, 8)}` },
      ];
    }),
  );
}
