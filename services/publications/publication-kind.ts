import { z } from 'zod';
import type {
  RemovableRecord,
  Removal,
  RemovalCommand,
} from '../../domain/publications/removal.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { POLICY_VERSION } from '../../domain/publications/words.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import type { Refusal } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { RecordDecisionRow } from '../../projections/publications/record-decisions.ts';
import type { RecordKind } from '../../projections/publications/record-events.ts';
import { publicOwners, type RecordRow } from '../../projections/publications/records.ts';

/** A record as a moderator's command finds it. */
export interface ModeratedRecord extends RemovableRecord {
  status: RecordRow['state'];
  row: RecordRow;
}

/**
 * A kind of published record that can be reported and moderated. Each capability lists its
 * kinds in its `feature.ts`.
 */
export interface PublicationKind extends RecordKind {
  /** The record's stream; the author owns it. */
  stream(id: string): string;
  /** Selects the records with these ids, in the common shape of all kinds. */
  records(ids: readonly string[]): Sql<RecordRow>;
  /** The tables that `records` reads, besides that of the members. */
  tables: readonly string[];
  /** Finds the members whose feeds may receive a decision on the record. */
  members(id: string): Sql<{ member_id: string }>;
  /** Finds the active members, other than the author, whom the record concerns. */
  concerned(id: string): Sql<{ member_id: string }>;
  /** Runs a moderator's command through the decider of the record. Rows suffice: no stream is read. */
  decide(
    record: ModeratedRecord,
    command: RemovalCommand,
    concerned: readonly string[],
  ): NewEvent[] | Refusal<'state_conflict' | 'not_found'>;
}

/** A `concerned` statement that selects no rows, for kinds that concern only their author. */
export const noMembers = (): Sql<{ member_id: string }> =>
  sql`SELECT NULL::uuid AS member_id WHERE false`;

/** A removal as the deciders of records take it. */
export function toRemoval(row: RecordDecisionRow, undoSeconds: number): Removal {
  return {
    eventId: row.event_id,
    policy: row.policy ?? '',
    by: row.moderator_id ?? '',
    undoUntil: notifiedAt(row.decided_at, undoSeconds),
  };
}

/** What decides a moderator's command on a record, given the removal in force. */
export function removable(row: RecordRow, removal: RecordDecisionRow | undefined): ModeratedRecord {
  const { version, removed } = row;
  const status = removed ? 'removed' : row.state;
  return { row, status, version, told: removed && removal?.told_at != null };
}

/** A kind of public record of which the sealed log proves, to everyone, that it has the record's events. */
export interface ProvableRecord {
  /** The name of the kind in the address of the proof. */
  type: string;
  /** Selects the owner of the record, in one row, while everyone may read the record. */
  owner(id: string): Sql<{ owner_id: string }>;
  /** The record's stream. */
  stream(id: string): string;
  /**
   * The types of events that are proven, each with the fields of `data` and `personal` that everyone may
   * read. The others are proven by their hashes.
   */
  events: Readonly<Record<string, readonly string[]>>;
}

/** A kind of published record, of which everyone gets a proof of these events. */
export const provableKind = (
  { type, records, stream }: PublicationKind,
  events: ProvableRecord['events'],
): ProvableRecord => ({ type, owner: (id) => publicOwners(records([id])), stream, events });

/** Fields of every publication's body: the author consents to publish it under this policy. */
export const consent = {
  visibility: z.literal('public'),
  publish_consent: z.literal(true),
  policy_version: z.literal(POLICY_VERSION),
};
