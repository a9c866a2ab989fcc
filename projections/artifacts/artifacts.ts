import * as events from '../../domain/artifacts/events.ts';
import type { Kind } from '../../domain/artifacts/words.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import { parseJson } from '../../platform/json.ts';
import { START_NEWEST } from '../../platform/keyset-cursor.ts';
import { defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { toVector } from '../../platform/word-vector.ts';
import { stays } from '../membership/members.ts';
import { defineProjection } from '../projection.ts';
import {
  NOTIFIED_STATE,
  type NotifiedDecision,
  ownRecords,
} from '../publications/record-decisions.ts';
import type { RecordRow } from '../publications/records.ts';
import { recordsTakenDown, type TakenDownRow } from '../taken-down.ts';

const heard = { ...events, MemberDeactivated: membershipEvents.MemberDeactivated } as const;

const insertArtifact = defineInsert('artifacts', {
  artifact_id: 'uuid',
  author_id: 'uuid',
  kind: 'text',
  title: 'text',
  content_hash: 'text',
  packet: 'text::json',
  words: 'text::tsvector',
  supersedes_id: 'uuid',
  state: 'text',
  version: 'int',
  created_at: 'timestamptz',
});

export const artifacts = defineProjection(heard, {
  name: 'artifacts',
  tables: ['artifacts'],
  texts: [
    {
      table: 'artifacts',
      columns: ['title', 'content_hash', 'packet', 'words'],
      member: 'author_id',
    },
  ],
  on: {
    ArtifactPublished: ({ stream_version, data, personal, recorded_at }) =>
      insertArtifact({
        artifact_id: data.artifact_id,
        author_id: data.author_id,
        kind: data.kind,
        title: personal?.title,
        content_hash: personal?.content_hash,
        packet: personal?.packet,
        words: personal && toVector([personal.title, summaryOf(personal.packet)]),
        supersedes_id: data.supersedes_id,
        state: 'published',
        version: stream_version,
        created_at: recorded_at,
      }),
    ArtifactSuperseded: ({ stream_version, data }) =>
      sql`UPDATE artifacts SET superseded_by = ${data.by}, version = ${stream_version}
        WHERE artifact_id = ${data.artifact_id}`,
    // A removed artifact may be withdrawn as well; `taken_down_at` stays that of the removal.
    ArtifactWithdrawn: ({ stream_version, data, recorded_at }) =>
      sql`UPDATE artifacts SET state = 'withdrawn', version = ${stream_version},
          taken_down_at = coalesce(taken_down_at, ${recorded_at})
        WHERE artifact_id = ${data.artifact_id}`,
    ArtifactRemoved: ({ stream_version, data, recorded_at }) =>
      sql`UPDATE artifacts SET state = 'removed', version = ${stream_version},
          taken_down_at = ${recorded_at}
        WHERE artifact_id = ${data.artifact_id}`,
    ArtifactRemovalTold: ({ stream_version, data }) =>
      sql`UPDATE artifacts SET version = ${stream_version}
        WHERE artifact_id = ${data.artifact_id}`,
    ArtifactRestored: ({ stream_version, data }) =>
      sql`UPDATE artifacts SET state = 'published', version = ${stream_version},
          taken_down_at = NULL
        WHERE artifact_id = ${data.artifact_id}`,
    // In an earlier release: withdraws all artifacts of the author.
    MemberDeactivated: ({ owner_id, data, recorded_at }) =>
      data.in_batches
        ? []
        : sql`UPDATE artifacts SET state = 'withdrawn',
          taken_down_at = coalesce(taken_down_at, ${recorded_at})
        WHERE author_id = ${owner_id} AND state <> 'withdrawn'`,
  },
});

const summaryOf = (packet: string): string =>
  (parseJson(packet) as { summary?: string }).summary ?? '';

/** `packet` is JSON text. Hash and packet are null after erasure. */
export interface ArtifactRow {
  artifact_id: string;
  author_id: string;
  kind: Kind;
  content_hash: string | null;
  packet: string | null;
  supersedes_id: string | null;
  superseded_by: string | null;
  state: 'published' | 'withdrawn' | 'removed';
  version: number;
  created_at: Date;
}

/** Finds an artifact in any state. */
export function findArtifact(artifactId: string): Sql<ArtifactRow> {
  return named(
    `SELECT artifact_id, author_id, kind, content_hash, packet::text, supersedes_id, superseded_by,
      CASE WHEN ${stays('author_id')} THEN state ELSE 'withdrawn' END AS state, version, created_at
    FROM artifacts WHERE artifact_id = $1`,
    [artifactId],
  );
}

/** Finds the public artifact that superseded another one. */
export function publicSuccessor(artifactId: string): Sql<{ artifact_id: string }> {
  return named(
    `SELECT next.artifact_id FROM artifacts a
    JOIN artifacts next ON next.artifact_id = a.superseded_by AND next.state = 'published'
      AND ${stays('next.author_id')}
    WHERE a.artifact_id = $1`,
    [artifactId],
  );
}

const publishedArtifact = defineRead<{ artifact_id: string }>(
  { artifact_id: 'uuid' },
  ({ artifact_id }) =>
    `SELECT artifact_id FROM artifacts WHERE artifact_id = ${artifact_id} AND state = 'published'
      AND ${stays('author_id')}`,
);

/** Returns a row if the artifact is public. */
export const publicArtifact = (artifactId: string): Sql<{ artifact_id: string }> =>
  publishedArtifact({ artifact_id: artifactId });

const authorOfArtifact = defineRead<{ author_id: string }>(
  { artifact_id: 'uuid' },
  ({ artifact_id }) => `SELECT author_id FROM artifacts WHERE artifact_id = ${artifact_id}`,
);

/** Finds the author of an artifact in any state. */
export const artifactAuthor = (artifactId: string): Sql<{ author_id: string }> =>
  authorOfArtifact({ artifact_id: artifactId });

/** An artifact that the closure of its author's account has to withdraw. */
export interface OpenArtifactRow {
  artifact_id: string;
  version: number;
}

/** Reads a member's artifacts that are not withdrawn, at most `limit`, the public ones first. */
export function openArtifactsOfMember(memberId: string, limit: number): Sql<OpenArtifactRow> {
  const inState = (state: ArtifactRow['state']) => `(SELECT artifact_id, version FROM artifacts
      WHERE author_id = $1 AND state = '${state}'
      ORDER BY created_at DESC, artifact_id DESC LIMIT $2)`;
  return named(
    `SELECT * FROM (${inState('published')} UNION ALL ${inState('removed')}) a LIMIT $2`,
    [memberId, limit],
  );
}

export type OwnArtifactRow = ArtifactRow & NotifiedDecision & { place: string };

/** Reads a member's own artifacts with the text of each packet. */
export const artifactsOfMember = ownRecords<OwnArtifactRow>({
  type: 'artifact',
  table: 'artifacts',
  id: 'artifact_id',
  member: 'author_id',
  removed: `state IN ('removed', 'withdrawn')`,
  columns: `artifact_id, author_id, kind, content_hash, packet::text, supersedes_id,
        superseded_by, ${NOTIFIED_STATE}, version, created_at`,
});

export interface ListedArtifactRow {
  artifact_id: string;
  author_id: string;
  title: string;
  kind: Kind;
  created_at: Date;
  content_hash: string;
  place: string;
}

export interface ArtifactFilter {
  author?: string | undefined;
  kind?: Kind | undefined;
  /** Only these artifacts. */
  ids?: readonly string[] | undefined;
}

/**
 * Reads published artifacts, newest first. Each filter has an index, and so its own statement. The inner
 * select needs that index alone, and so reads no row of an author whose account was closed.
 */
export function publishedArtifacts(
  { author, kind, ids }: ArtifactFilter,
  limit: number,
  { at, id } = START_NEWEST,
): Sql<ListedArtifactRow> {
  const values: unknown[] = [at, id, limit];
  const given = author ? `$${values.push(author)}::uuid` : null;
  const byAuthor = given ? `author_id = ${given} AND` : '';
  const byKind = kind ? `AND kind = $${values.push(kind)}` : '';
  const byId = ids ? `AND artifact_id IN (SELECT unnest($${values.push(ids)}::uuid[]))` : '';
  return named(
    `SELECT a.artifact_id, author_id, title, kind, created_at, content_hash,
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM (SELECT artifact_id FROM artifacts
      WHERE state = 'published' AND ${byAuthor} ${stays(given ?? 'author_id')} ${byKind} ${byId}
        AND (created_at, artifact_id) < ($1::timestamptz, $2::uuid)
      ORDER BY created_at DESC, artifact_id DESC LIMIT $3) listed,
      LATERAL (SELECT * FROM artifacts WHERE artifact_id = listed.artifact_id OFFSET 0) a
    ORDER BY a.created_at DESC, a.artifact_id DESC`,
    values,
  );
}

/** Reads the artifacts of all authors, or of one, that were taken down, newest first. */
export const artifactsTakenDown = (limit: number, author?: string): Sql<TakenDownRow> =>
  recordsTakenDown('artifacts', 'artifact_id', limit, author);

/**
 * Reads packets as published records. Shows the beginning of a large packet; all of the packet is public at its own address. `OFFSET 0`
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
