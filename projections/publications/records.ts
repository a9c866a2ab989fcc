import { hash } from 'node:crypto';
import type { RecordType } from '../../domain/publications/record-type.ts';
import { factsFrom, lastFact, newestFacts } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type DependentLoad, loadAfter } from '../../platform/eventstore/load.ts';
import { memberOwner, type Owner } from '../../platform/eventstore/owner.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { stays } from '../membership/ending.ts';

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

export function profileRecords(ids: readonly string[]): Sql<RecordRow> {
  return sql`SELECT member_id AS subject_id, member_id AS author_id, state,
      state = 'published' AS public, state = 'removed' AS removed, version, display_name AS title,
      concat_ws(E'\n', summary, array_to_string(links, E'\n'),
        nullif(array_to_string(capabilities, ', '), '')) AS text, published_at
    FROM profiles WHERE member_id = ANY(${ids}::uuid[])`;
}

/**
 * Shows the beginning of a large packet; all of the packet is public at its own address. `OFFSET 0`
 * makes PostgreSQL parse the packet once.
 */
export function artifactRecords(ids: readonly string[]): Sql<RecordRow> {
  return named(
    `SELECT artifact_id AS subject_id, author_id,
      CASE WHEN ${stays('author_id')} THEN state ELSE 'withdrawn' END AS state,
      state = 'published' AND ${stays('author_id')} AS public, state = 'removed' AS removed,
      version, title, concat_ws(E'\n\n', said->>'summary',
        left(CASE kind
          WHEN 'brief' THEN said#>>'{content,body}'
          WHEN 'result' THEN concat_ws(E'\n\n', said#>>'{content,outcome}',
            (SELECT string_agg(concat_ws(E'\n', piece->>'description', piece->>'source_ref'), E'\n\n')
              FROM jsonb_array_elements(said#>'{content,evidence}') piece))
          ELSE jsonb_pretty(said->'content') END, 8000),
        left(concat_ws(E'\n', 'Claim: ' || (said#>>'{provenance,claim_type}'),
          'Reuse: ' || (said->>'reuse_terms'),
          (SELECT string_agg(source, E'\n')
            FROM jsonb_array_elements_text(said#>'{provenance,source_refs}') source)), 4000)) AS text,
      created_at AS published_at
    FROM artifacts, LATERAL (SELECT packet::jsonb AS said OFFSET 0) packets
    WHERE artifact_id = ANY($1::uuid[])`,
    [ids],
  );
}

export function caseRecords(ids: readonly string[]): Sql<RecordRow> {
  return named(
    `SELECT case_id AS subject_id, author_id,
      CASE WHEN gone THEN 'withdrawn' WHEN removed THEN 'removed' ELSE 'published' END AS state,
      NOT removed AND NOT gone AS public, removed, version, title,
      concat_ws(E'\n', summary, objective, array_to_string(acceptance_criteria, E'\n')) AS text,
      created_at AS published_at
    FROM cases, LATERAL (SELECT author_gone OR NOT ${stays('author_id')} AS gone) ends
    WHERE case_id = ANY($1::uuid[])`,
    [ids],
  );
}

/**
 * A case note has the title of its case, is public while the case is, and disappears with its own
 * author or the author of the case.
 */
export function caseNoteRecords(ids: readonly string[]): Sql<RecordRow> {
  return named(
    `SELECT n.note_id AS subject_id, n.member_id AS author_id,
      CASE WHEN n.state = 'published' AND gone THEN 'withdrawn' ELSE n.state END AS state, gone,
      n.case_id, n.state = 'removed' AS removed, n.state = 'published' AND NOT gone AND NOT c.removed AS public,
      n.version, c.title, n.message AS text, n.created_at AS published_at
    FROM case_notes n JOIN cases c USING (case_id),
      LATERAL (SELECT c.author_gone OR n.message IS NULL OR NOT ${stays('c.author_id')}
        OR NOT ${stays('n.member_id')} AS gone) ends
    WHERE n.note_id = ANY($1::uuid[])`,
    [ids],
  );
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

/** Events on a case that leave its version as it is. */
const UNVERSIONED = ['CaseReviewed', 'CaseRemovalTold', 'CaseAuthorLeft'];

/** How many changes of an item of this version a moderator has not seen, as far as they are read. */
export const countUnseen = (version: number, seen: number): number =>
  Math.min(Math.max(version - seen, 0), MAX_UNSEEN_CHANGES);

/**
 * Reads what changed on a record or its reports since the version `seen` of the item: as many of the
 * newest events of each stream as the version has increased by. The version is found before the
 * transaction, so `decide` has to compare the number of events with `countUnseen`.
 */
export function changesSince(
  records: Sql,
  { type, id }: { type: RecordType; id: string },
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
        ? newestFacts(memberOwner(item.author_id), stream, limit, { except: UNVERSIONED })
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
