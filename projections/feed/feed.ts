import type { RecordedEvent } from '../../services/eventstore/event.ts';
import { forRows, type Sql, sql, typedRows } from '../../services/eventstore/sql.ts';
import type { Projection } from '../projection.ts';
import type { FeedEntries, FeedEntry } from './entry.ts';

/**
 * Every member's own record, numbered 1, 2, 3, … in commit order. The row in `feed_heads` is the
 * member's lock: whoever appends an event that concerns a member holds it until COMMIT.
 */
export function feedProjection(features: readonly FeedEntries[]): {
  projection: Projection;
  concerns: (event: RecordedEvent) => readonly string[];
} {
  const entries: FeedEntries = Object.assign({}, ...features);

  const entriesOf = (event: RecordedEvent): readonly FeedEntry[] => {
    const made = entries[event.type]?.(event) ?? [];
    return 'member' in made ? [made] : made;
  };

  const statements = (event: RecordedEvent): Sql[] =>
    entriesOf(event).map((entry) => insertEntry(event, entry));

  const on = Object.fromEntries(Object.keys(entries).map((type) => [type, statements]));
  return {
    projection: { name: 'feed', tables: ['feed', 'feed_heads'], on: withHeads(on) },
    // A registration makes the lock row itself, so there is nothing to hold before it.
    concerns: (event) =>
      event.type === 'MemberRegistered' ? [] : entriesOf(event).map((entry) => entry.member),
  };
}

function withHeads(on: Projection['on']): Projection['on'] {
  return {
    ...on,
    MemberRegistered: (event) => [
      sql`INSERT INTO feed_heads (member_id, sequence) VALUES (${event.owner_id}, 0)`,
      ...[on.MemberRegistered?.(event) ?? []].flat(),
    ],
  };
}

function insertEntry({ event_id, actor, recorded_at }: RecordedEvent, entry: FeedEntry): Sql {
  const { member, type, subject, data } = entry;
  const values = [member, event_id, type, recorded_at, subject.type, subject.id];
  return insertEntries([...values, entry.actor ?? actor, data]);
}

const ENTRY = ['uuid', 'uuid', 'text', 'timestamptz', 'text', 'uuid', 'jsonb', 'jsonb'];

/** Entries of any members, each member's numbered in the order in which they stand. */
const insertEntries = forRows(
  'feed-entry',
  (count) => `
    WITH entry (member_id, event_id, type, occurred_at, subject_type, subject_id, actor, data, turn)
      AS (SELECT *, row_number() OVER () FROM (VALUES ${typedRows(ENTRY, count)}) given),
    added AS (SELECT member_id, count(*) FROM entry GROUP BY member_id),
    head AS (UPDATE feed_heads h SET sequence = h.sequence + added.count FROM added
      WHERE h.member_id = added.member_id RETURNING h.member_id, h.sequence - added.count AS before)
    INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id, actor, data)
    SELECT member_id, before + row_number() OVER (PARTITION BY member_id ORDER BY turn), event_id, type,
      occurred_at, subject_type, subject_id, actor, data FROM entry JOIN head USING (member_id)`,
);
