import { hash } from 'node:crypto';
import type { Append } from '../../platform/eventstore/append.ts';
import type { Load, Rows } from '../../platform/eventstore/load.ts';
import type { Sql } from '../../platform/sql.ts';

/**
 * The most records of which one closing tells the log at once; the worker tells of the others before
 * it erases. The read models end them all with the member.
 */
export const CLOSING_BATCH = 500;

/** What a member asked for with the deletion of the account. */
export interface ClosingRequest {
  eraseNotes: boolean;
}

/**
 * What of one feature ends with a member. All closings run in the transaction that deactivates the
 * member; a worker erases what is left of names and texts later. An event that concerns nobody but
 * the member needs no `lock`.
 */
export interface Closing<Known = unknown> {
  /** Other members in whose feeds the events stand: a statement that selects `member_id`. */
  lock?(memberId: string): Sql;
  /** What there is to end, at most `CLOSING_BATCH` of what may be many. */
  load(memberId: string, request: ClosingRequest): Load;
  /** `rows` are read under the locks. */
  close(memberId: string, rows: Known, now: Date, request: ClosingRequest): readonly Append[];
  /** Rows of primary data, such as leases, that end as well. */
  rows?(memberId: string, rows: Known, now: Date, request: ClosingRequest): readonly Sql[];
}

/** A closing that knows the rows of its own `load`. */
export function defineClosing<const Of extends Load>(
  closing: Closing<Rows<Of>> & { load(memberId: string, request: ClosingRequest): Of },
): Closing {
  return closing;
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
