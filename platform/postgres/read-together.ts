import type pg from 'pg';
import { openGroup } from '../batcher.ts';
import type { Sql } from '../sql.ts';
import { query } from './query.ts';
import { patiently, sharedPatience } from './request-deadline.ts';

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
  const read = async (asked: readonly { id: string; until: number }[]) => {
    const ids = new Set(asked.map(({ id }) => id));
    const until = Math.min(...asked.map((one) => one.until));
    const rows = await sharedPatience(() => query(pool, statement([...ids])), until);
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return asked.map(({ id }) => ({ row: byId.get(id) }));
  };
  const group = openGroup(read, { lanes: 3, waitMs: WAIT_MS, few: FEW, beside: 1 });

  return (id) =>
    patiently(async (until) => {
      const asked = { id, until };
      const found = (await group.join(asked, [])) ?? (await read([asked]))[0];
      return found?.row;
    });
}
