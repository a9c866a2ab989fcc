import type { RecordType } from '../../domain/publications/record-type.ts';
import type { Removal, RemovalCommand } from '../../domain/publications/removal.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { streamVersion } from '../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import type { Refusal } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { RecordRow } from '../../projections/publications/records.ts';

/**
 * A kind of published record that can be reported and moderated. Each capability lists its
 * kinds in its `feature.ts`.
 */
export interface PublicationKind {
  type: RecordType;
  /** The record's stream; the author owns it. */
  stream(id: string): string;
  /** Selects the records with these ids, in the common shape of all kinds. */
  records(ids: readonly string[]): Sql<RecordRow>;
  /** Finds the members whose feeds may receive a decision on the record. */
  members(id: string): Sql<{ member_id: string }>;
  /** Finds the active members, other than the author, whom the record concerns. */
  concerned(id: string): Sql<{ member_id: string }>;
  /** Runs a moderator's command through the decider of the record. */
  decide(
    facts: readonly RecordedEvent[],
    command: RemovalCommand,
    concerned: readonly string[],
  ): NewEvent[] | Refusal<'state_conflict' | 'not_found'>;
}

/** A `concerned` statement that selects no rows, for kinds that concern only their author. */
export const noMembers = (): Sql<{ member_id: string }> =>
  sql`SELECT NULL::uuid AS member_id WHERE false`;

/** Finds the last removal in a record's stream, even if it was undone or restored since. */
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
    undoUntil: notifiedAt(at, undoSeconds),
    at,
    version: streamVersion([event]),
  };
}
