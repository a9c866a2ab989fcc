import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Sql } from '../eventstore/sql.ts';
import type { PrincipalOf } from '../http/principal.ts';
import { query } from '../postgres.ts';
import type { RecordType } from '../reports/kind.ts';
import type { Subject } from '../subject.ts';
import type { Filters, QueuePlace } from './queue.ts';
import { type RecordItem, type RecordItemRow, recordItemBody, withReports } from './record-item.ts';

export interface WaitingRow {
  subject_type: RecordType;
  subject_id: string;
  /** `reported_at` in UTC, to the microsecond. */
  place: string;
}

/**
 * Records with reports that wait, oldest report first. Screening knows nothing of records, and a
 * search for words goes through notes alone: with either there is none.
 */
export function waitingRecords(
  { author, q, finding, older_than }: Filters,
  limit: number,
  after: QueuePlace | undefined,
): Sql | undefined {
  if (q !== undefined || finding !== undefined) return undefined;
  const values: unknown[] = [];
  const value = (given: unknown, type: string) => `$${values.push(given)}::${type}`;
  const conditions = ['w.reported_at IS NOT NULL'];
  if (after)
    conditions.push(
      `(w.reported_at, w.subject_id) > (${value(after.at, 'timestamptz')}, ${value(after.id, 'uuid')})`,
    );
  if (author !== undefined)
    conditions.push(`w.author_id IN (SELECT member_id FROM members
      WHERE handle = ${value(author, 'text')} OR member_id::text = lower(${value(author, 'text')}))`);
  if (older_than !== undefined)
    conditions.push(
      `w.reported_at < clock_timestamp() - make_interval(secs => ${value(older_than, 'int')})`,
    );
  const text = `SELECT w.subject_type, w.subject_id,
      to_char(w.reported_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM reported_records w WHERE ${conditions.join(' AND ')}
    ORDER BY w.reported_at, w.subject_id LIMIT ${value(limit, 'int')}`;
  return { name: hash('sha1', text), text, values };
}

interface Parts {
  pool: pg.Pool;
  subjects: readonly Subject[];
  config: { undoWindowSeconds: number };
}

/** The items of these records by their type and id: one statement for each kind among them. */
export async function recordItems(
  { pool, subjects, config }: Parts,
  me: PrincipalOf<'moderator'>,
  waiting: readonly WaitingRow[],
): Promise<Map<string, RecordItem>> {
  const kinds = Map.groupBy(waiting, ({ subject_type }) => subject_type);
  const rows = await Promise.all(
    [...kinds].map(([type, some]) => {
      const subject = subjects.find((one) => one.type === type);
      if (!subject) throw new Error(`no subject ${type}`);
      const ids = some.map(({ subject_id }) => subject_id);
      return query<RecordItemRow>(pool, withReports(type, subject.records(ids)));
    }),
  );
  const undoSeconds = config.undoWindowSeconds;
  return new Map(
    rows
      .flat()
      .map((row) => [
        `${row.subject_type} ${row.subject_id}`,
        recordItemBody(row, { me, undoSeconds }),
      ]),
  );
}
