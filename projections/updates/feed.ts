import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { fault } from '../../platform/fault.ts';
import { defineBatch } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { FeedEntries, FeedEntry } from '../feed-entry.ts';
import type { Projection } from '../projection.ts';

/**
 * The feed of every member, numbered 1, 2, 3, … in commit order. The row in `feed_heads` is the
 * member's lock: a transaction that appends an event which affects the member holds it until
 * COMMIT.
 */
export function feedProjection(features: readonly FeedEntries[]): {
  projection: Projection;
  affectedMembers: (event: RecordedEvent) => readonly string[];
} {
  const entries: FeedEntries = Object.assign({}, ...features);

  const entriesOf = (event: RecordedEvent): readonly FeedEntry[] => {
    const made = entries[event.type]?.(event) ?? [];
    return 'member' in made ? [made] : made;
  };

  const handlersBy = (insert: (event: RecordedEvent, entry: FeedEntry) => Sql | Sql[]) => {
    const statements = (event: RecordedEvent): Sql[] =>
      entriesOf(event).flatMap((entry) => insert(event, entry));
    return withHeads(Object.fromEntries(Object.keys(entries).map((type) => [type, statements])));
  };
  return {
    projection: {
      name: 'feed',
      tables: ['feed', 'feed_heads'],
      on: handlersBy(insertEntry),
      onCluster: handlersBy(insertOnOneNode),
    },
    // A registration inserts the lock row, so there is no row to lock before it.
    affectedMembers: (event) =>
      event.type === 'MemberRegistered' ? [] : entriesOf(event).map((entry) => entry.member),
  };
}

function withHeads(on: Projection['on']): Projection['on'] {
  return {
    ...on,
    MemberRegistered: (event) => [
      insertHead({ member_id: event.owner_id }),
      ...[on.MemberRegistered?.(event) ?? []].flat(),
    ],
  };
}

const insertHead = defineBatch(
  'feed',
  { member_id: 'uuid' },
  (given) => `INSERT INTO feed_heads (member_id, sequence) SELECT member_id, 0 FROM ${given}`,
);

const SEQUENCE = fault('plain-sequence')
  ? "nextval('events_position_seq')"
  : 'head.sequence + row_number() OVER (PARTITION BY entry.member_id ORDER BY turn)';

/** The same for one entry: two statements that address one member, as a cluster needs them. */
function insertOnOneNode(event: RecordedEvent, entry: FeedEntry): Sql[] {
  const { member, type, subject, data } = entry;
  return [
    sql`INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id,
        actor, data)
      SELECT member_id, sequence + 1, ${event.event_id}::uuid, ${type}, ${event.recorded_at}::timestamptz,
        ${subject.type}, ${subject.id}::uuid, ${JSON.stringify(entry.actor ?? event.actor)}::jsonb,
        ${JSON.stringify(data)}::jsonb
      FROM feed_heads WHERE member_id = ${member}::uuid`,
    sql`UPDATE feed_heads SET sequence = sequence + 1 WHERE member_id = ${member}::uuid`,
  ];
}

/**
 * Inserts entries of any members, and numbers the entries of each member in the given order. The main
 * query reads the heads as they were before `raised` changes them, and looks up each by its key: a
 * join with the rows that `raised` returns would compare each entry with each member.
 */
const insertEntries = defineBatch(
  'feed',
  {
    member_id: 'uuid',
    event_id: 'uuid',
    type: 'text',
    occurred_at: 'timestamptz',
    subject_type: 'text',
    subject_id: 'uuid',
    actor: 'jsonb',
    data: 'jsonb',
  },
  (given) => `
    WITH entry AS (SELECT *, row_number() OVER () AS turn FROM ${given}),
    raised AS (UPDATE feed_heads h SET sequence = h.sequence + added.count
      FROM (SELECT member_id, count(*) FROM entry GROUP BY member_id) added
      WHERE h.member_id = added.member_id)
    INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id, actor, data)
    SELECT entry.member_id, ${SEQUENCE}, event_id, type,
      occurred_at, subject_type, subject_id, actor, data
    FROM entry CROSS JOIN LATERAL (SELECT sequence FROM feed_heads h
      WHERE h.member_id = entry.member_id OFFSET 0) head`,
);

function insertEntry({ event_id, actor, recorded_at }: RecordedEvent, entry: FeedEntry): Sql {
  const { member, type, subject, data } = entry;
  return insertEntries({
    member_id: member,
    event_id,
    type,
    occurred_at: recorded_at,
    subject_type: subject.type,
    subject_id: subject.id,
    actor: entry.actor ?? actor,
    data,
  });
}
