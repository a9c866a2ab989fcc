import type { Sql } from '../../platform/sql.ts';
import { publicOwners } from '../../projections/publications/records.ts';
import type { PublicationKind } from './publication-kind.ts';

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
