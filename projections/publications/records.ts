import { hash } from 'node:crypto';
import { memberOwner } from '../../domain/owners.ts';
import { factsFrom, lastFact, newestFacts } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type DependentLoad, loadAfter } from '../../platform/eventstore/load.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { named, type Sql } from '../../platform/sql.ts';
import type { RecordKind } from './record-events.ts';

/** A profile, artifact, case or case note in one shape. Nothing in this file changes a table. */
export interface RecordRow {
  subject_id: string;
  author_id: string;
  state: 'published' | 'withdrawn' | 'removed';
  /**
   * Case notes only: the author of the note or of its case is gone, so a restored note is
   * withdrawn.
   */
  gone?: boolean;
  /** Case notes only. */
  case_id?: string;
  /** Whether a moderator's removal is in force, also if the author is gone since. */
  removed: boolean;
  /** Whether anyone can read the record. */
  public: boolean;
  /** Version of the record itself, without its reports. */
  version: number;
  /** Null after erasure. */
  title: string | null;
  text: string | null;
  published_at: Date;
}

/** Authors of the records that `records` selects. */
export function recordAuthors(records: Sql): Sql<{ member_id: string }> {
  const text = `SELECT author_id AS member_id FROM (${records.text}) r`;
  return { name: hash('sha1', text), text, values: records.values };
}

/** Owners of the records that `records` selects, as far as everyone may read them. */
export function publicOwners(records: Sql): Sql<{ owner_id: string }> {
  const text = `SELECT author_id AS owner_id FROM (${records.text}) r WHERE public`;
  return { name: hash('sha1', text), text, values: records.values };
}

/** Reads the last event of a stream of a record's author, who is found first. */
export function lastRecordFact(
  records: Sql,
  stream: string,
): DependentLoad<Sql<RecordedEvent> | null> {
  return ofAuthor(records, (author) => lastFact(author, stream));
}

/** Reads the events of a record's stream from a version on. */
export function recordFactsFrom(
  records: Sql,
  stream: string,
  version: number,
): DependentLoad<Sql<RecordedEvent> | null> {
  return ofAuthor(records, (author) => factsFrom(author, stream, version));
}

/** A moderator reads an item again before deciding, if it changed more often than this since. */
export const MAX_UNSEEN_CHANGES = 1000;

/** How many changes of an item of this version a moderator has not seen, as far as they are read. */
export const countUnseen = (version: number, seen: number): number =>
  Math.min(Math.max(version - seen, 0), MAX_UNSEEN_CHANGES);

/**
 * Reads what changed on a record or its reports since the version `seen` of the item: as many of the
 * newest events of each stream as the version has increased by. The version is found before the
 * transaction, so `decide` has to compare the number of events with `countUnseen`.
 */
export function changesSince(
  { type, events: { unversioned = [] } }: RecordKind,
  id: string,
  records: Sql,
  streams: { record: string; reports: string },
  seen: number,
) {
  const find = named<{ author_id: string; version: number }>(
    `SELECT author_id, record.version + coalesce((SELECT version FROM reported_records
        WHERE subject_type = $2 AND subject_id = $3), 0) AS version
      FROM (${records.text}) record`,
    [...records.values, type, id],
  );
  return loadAfter(find, ([item]) => {
    const limit = item ? countUnseen(item.version, seen) : 0;
    const newest = (stream: string) =>
      item && limit > 0
        ? newestFacts(memberOwner(item.author_id), stream, limit, { except: unversioned })
        : null;
    return { ofRecord: newest(streams.record), ofReports: newest(streams.reports) };
  });
}

function ofAuthor(
  records: Sql,
  read: (author: Owner<'member'>) => Sql<RecordedEvent>,
): DependentLoad<Sql<RecordedEvent> | null> {
  return loadAfter(recordAuthors(records), ([author]) =>
    author ? read(memberOwner(author.member_id)) : null,
  );
}
