import { streamVersion } from '../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import type { Refusal } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { RecordRow } from '../../projections/publications/records.ts';
import type { RecordType } from './record-type.ts';
import type { Removal, RemovalCommand } from './removal.ts';

/**
 * A kind of published record, as reports and moderators meet it: each feature gives its own, and
 * the table in features.ts names them all.
 */
export interface Subject {
  type: RecordType;
  /** The record's own stream, which belongs to its author. */
  stream(id: string): string;
  /** The records with these ids, in the shape of projections/publications/records.ts. */
  records(ids: readonly string[]): Sql<RecordRow>;
  /** Where commands on the record wait for each other, where that is not the author's lock. */
  gate?(id: string): Sql;
  /** Selects `member_id`: in whose feeds a decision on the record may stand. */
  members(id: string): Sql;
  /** Selects `member_id`: those whom the record concerns beside its author, and who live. */
  concerned(id: string): Sql<{ member_id: string }>;
  /** What the feature's decider makes of a moderator's command. */
  decide(
    facts: readonly RecordedEvent[],
    command: RemovalCommand,
    concerned: readonly string[],
  ): NewEvent[] | Refusal<'state_conflict' | 'not_found'>;
}

export const nobody = (): Sql<{ member_id: string }> =>
  sql`SELECT NULL::uuid AS member_id WHERE false`;

/** The last removal in a record's stream, whether it still stands or not. */
export function lastRemoval(
  facts: readonly RecordedEvent[],
  undoSeconds: number,
): (Removal & { at: Date; version: number }) | null {
  const event = facts.findLast(({ type }) => type.endsWith('Removed'));
  if (!event) return null;
  const at = event.recorded_at;
  return {
    eventId: event.event_id,
    policy: (event.data as { policy: string }).policy,
    by: event.actor.id ?? '',
    undoUntil: new Date(at.getTime() + undoSeconds * 1000),
    at,
    version: streamVersion([event]),
  };
}
