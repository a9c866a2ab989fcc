import { hash } from 'node:crypto';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type DependentLoad, loadAfter } from '../../platform/eventstore/load.ts';
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
      state = 'published' AS public, version, display_name AS title,
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
      state = 'published' AND ${stays('author_id')} AS public,
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
      NOT removed AND NOT gone AS public, version, title,
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
      n.state = 'published' AND NOT gone AND NOT c.removed AS public,
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

/**
 * Reads the events of a record and of its reports (`streams`), oldest first, with what moderators
 * and reporters wrote, but without the published content, which may be large.
 */
function recordEvents(author: string, streams: readonly string[]): Sql<RecordedEvent> {
  return sql`SELECT owner_id, stream_id, stream_version, position, event_id, type, data,
      CASE WHEN actor->>'type' <> 'member' OR type = 'RecordReported' THEN personal END AS personal,
      actor, recorded_at
    FROM events WHERE owner_id = ${author} AND stream_id = ANY(${streams}::text[])
    ORDER BY position`;
}

/** Reads the same events of a record whose author is still to be found. */
export function loadRecordEvents(
  records: Sql,
  streams: readonly string[],
): DependentLoad<Sql<RecordedEvent> | null> {
  return loadAfter(recordAuthors(records), ([author]) =>
    author ? recordEvents(author.member_id, streams) : null,
  );
}
