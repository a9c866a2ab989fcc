import type pg from 'pg';
import { openGroup } from '../eventstore/group.ts';
import type { Sql } from '../eventstore/sql.ts';
import { patiently, query } from '../postgres.ts';

/** Where storage is this slow, a place in the next statement is soon worth more than one's own. */
const WAIT_MS = 1000;
/** To read many is hardly dearer than to read one: none is split. */
const FEW = Number.POSITIVE_INFINITY;

/**
 * Reads of one row by its id, where those that are asked for while others are under way go as one
 * statement: every answer was begun after it was asked for, so none is stale.
 */
export function readTogether<Row>(
  pool: pg.Pool,
  statement: (ids: readonly string[]) => Sql<Row>,
  idOf: (row: Row) => string,
): (id: string) => Promise<Row | undefined> {
  const read = async (ids: readonly string[]) => {
    const rows = await query(pool, statement([...new Set(ids)]));
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((id) => ({ row: byId.get(id) }));
  };
  const group = openGroup(read, { lanes: 3, waitMs: WAIT_MS, few: FEW, beside: 1 });

  return (id) =>
    patiently(async () => {
      const joined = await group.join(id, []);
      return joined ? joined.row : (await query(pool, statement([id])))[0];
    });
}
