import { type Refusal, refuse } from './refusal.ts';

/** A place in a list by time and id: the time in UTC to the microsecond. */
export interface Place {
  at: string;
  id: string;
}

/** Before whatever a list has that is newest first, and before one that is oldest first. */
export const NEWEST: Place = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
export const OLDEST: Place = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

export function writePlace({ at, id }: Place): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** The place in a cursor, or undefined where it is none that `writePlace` makes. */
export function readPlace(cursor: string): Place | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, at, seconds, id] =
    /^(([2-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
      text,
    ) ?? [];
  if (!at || !seconds || !id) return undefined;
  // A day or an hour that does not exist comes back as another one, or as none.
  const time = new Date(`${seconds}Z`);
  const exact = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(seconds);
  return exact && writePlace({ at, id }) === cursor ? { at, id } : undefined;
}

/** Where a list of the API goes on; undefined at its beginning. */
export function placeOf(cursor: string | undefined): Place | undefined | Refusal<'invalid_cursor'> {
  if (cursor === undefined) return undefined;
  return readPlace(cursor) ?? refuse('invalid_cursor');
}

/**
 * A page of a list from the rows that were read, one more than asked for: whether there is a next
 * page. `cursorOf` makes the cursor of the last row, or names its place.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string | Place,
): { rows: Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const cursor = last && cursorOf(last);
  return {
    rows: page,
    next_cursor:
      cursor === undefined ? null : typeof cursor === 'string' ? cursor : writePlace(cursor),
  };
}
