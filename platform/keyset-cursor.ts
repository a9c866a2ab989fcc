import { createHash } from 'node:crypto';
import { type Refusal, refuse } from './refusal.ts';

/** A position in a list ordered by time and id. `at` is in UTC with microseconds. */
export interface KeysetPosition {
  at: string;
  id: string;
}

/** Positions before the first row of a list: `START_NEWEST` or `START_OLDEST`. */
export const START_NEWEST: KeysetPosition = {
  at: 'infinity',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};
export const START_OLDEST: KeysetPosition = {
  at: '-infinity',
  id: '00000000-0000-0000-0000-000000000000',
};

/** Distinguishes the cursors of lists; it is no secret. */
const listTag = (list: string): string =>
  createHash('sha256').update(list).digest('hex').slice(0, 8);

/** Encodes a text as a cursor. */
export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

/** The text of a cursor; undefined unless `toCursor` encodes it as exactly this cursor. */
export function cursorText(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  return toCursor(text) === cursor ? text : undefined;
}

/** Encodes a position in a list as a cursor, which is valid in this list alone. */
export function formatKeysetCursor(list: string, { at, id }: KeysetPosition): string {
  return toCursor(`${at} ${id} ${listTag(list)}`);
}

/** Decodes a cursor; undefined if `formatKeysetCursor` cannot have made it for this list. */
export function parseKeysetCursor(list: string, cursor: string): KeysetPosition | undefined {
  const [, at, seconds, id, tag] =
    /^(([2-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([0-9a-f]{8})$/.exec(
      cursorText(cursor) ?? '',
    ) ?? [];
  if (!at || !seconds || !id) return undefined;
  // `Date` turns a day or an hour that does not exist into another one, or into an invalid date.
  const time = new Date(`${seconds}Z`);
  const exact = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(seconds);
  return exact && tag === listTag(list) ? { at, id } : undefined;
}

/** The position after which a list continues; undefined for the first page. */
export function toKeysetPosition(
  list: string,
  cursor: string | undefined,
): KeysetPosition | undefined | Refusal<'invalid_cursor'> {
  if (cursor === undefined) return undefined;
  return parseKeysetCursor(list, cursor) ?? refuse('invalid_cursor');
}

/** The fields that lead from a page to the next one. */
export interface NextPage {
  next_cursor: string | null;
  has_more: boolean;
}

/** The fields that lead to the page at `cursor`; without a cursor, this page is the last. */
export function nextPage(cursor: string | null | undefined): NextPage {
  return { next_cursor: cursor ?? null, has_more: typeof cursor === 'string' };
}

/** The most bytes of texts in a page of a list of long records, but for its first record. */
const MAX_PAGE_BYTES = 512 * 1024;

/** How many of the first rows fit into one page by the bytes of their texts; at least one. */
export function rowsThatFit<Row>(
  rows: readonly Row[],
  textsOf: (row: Row) => readonly (string | null)[],
): number {
  let bytes = 0;
  const over = rows.findIndex((row) => {
    for (const text of textsOf(row)) bytes += Buffer.byteLength(text ?? '');
    return bytes > MAX_PAGE_BYTES;
  });
  return over === -1 ? rows.length : Math.max(1, over);
}

/**
 * Makes a page of a list from `rows`, which have one row more than `limit` if a next page exists.
 * `cursorOf` returns the cursor of the last row, or its position.
 */
export function toPage<Row>(
  list: string,
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string | KeysetPosition,
): { rows: Row[]; next: NextPage } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const cursor = last && cursorOf(last);
  return {
    rows: page,
    next: nextPage(typeof cursor === 'object' ? formatKeysetCursor(list, cursor) : cursor),
  };
}
