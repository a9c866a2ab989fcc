import { hash } from 'node:crypto';
import type { Append } from './eventstore/append.ts';
import type { Sql } from './eventstore/sql.ts';

/**
 * The most records of which one closing tells the log at once; the worker tells of the others before
 * it erases. The read models end them all with the member.
 */
export const CLOSING_BATCH = 500;

/** What a member asked for with the deletion of the account. */
export interface ClosingRequest {
  eraseNotes: boolean;
}

/** The rows of each statement of `load`, in its order, read under the locks. */
export type ClosingRows = ReadonlyArray<readonly never[]>;

/**
 * What of one feature ends with a member. All closings run in the transaction that deactivates the
 * member; a worker erases what is left of names and texts later. An event that concerns nobody but
 * the member needs no `lock`.
 */
export interface Closing {
  /** Other members in whose feeds the events stand: a statement that selects `member_id`. */
  lock?(memberId: string): Sql;
  /** What there is to end, at most `CLOSING_BATCH` of what may be many. */
  load(memberId: string, request: ClosingRequest): readonly Sql[];
  close(memberId: string, rows: ClosingRows, now: Date, request: ClosingRequest): readonly Append[];
  /** Rows of primary data, such as leases, that end as well. */
  rows?(memberId: string, rows: ClosingRows, now: Date, request: ClosingRequest): readonly Sql[];
}

/** The members of every closing, selected by one statement; undefined where they concern nobody else. */
export function lockOf(closings: readonly Closing[], memberId: string): Sql | undefined {
  const locks = closings.flatMap((closing) => closing.lock?.(memberId) ?? []);
  if (locks.length === 0) return undefined;
  const values: unknown[] = [];
  const texts = locks.map(({ text, values: own }) => {
    const offset = values.length;
    values.push(...own);
    return text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + offset}`);
  });
  const text = texts.map((part) => `(${part})`).join(' UNION ALL ');
  return { name: hash('sha1', text), text, values };
}

/** Every closing with its own part of what was loaded for all of them. */
export function closingsWithRows(
  closings: readonly Closing[],
  memberId: string,
  request: ClosingRequest,
  rows: ClosingRows,
): { closing: Closing; rows: ClosingRows }[] {
  let start = 0;
  return closings.map((closing) => {
    const from = start;
    start += closing.load(memberId, request).length;
    return { closing, rows: rows.slice(from, start) };
  });
}
