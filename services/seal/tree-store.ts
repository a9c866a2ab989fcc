import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { HASH_BYTES, type ReadNode } from '../../platform/tlog/merkle.ts';
import { nodeReader, type TilePlace } from '../../platform/tlog/tiles.ts';
import type { Tile } from '../../platform/tlog/tree-edge.ts';
import type { LeafOpening, SealedEvent } from './leaf.ts';

/** An event with its leaf, whose columns are null until the event is sealed. */
export type EventWithLeaf = SealedEvent & {
  leaf: number | null;
  facts_salt: Buffer | null;
} & Omit<LeafOpening, 'facts_salt'>;

/** The tree of an epoch with its last checkpoint. */
export interface TreeRow {
  epoch: number;
  origin: string;
  verifiers: string[];
  previous: string | null;
  size: number;
  position: number;
  checkpoint: string;
  signed_at: Date;
  refusal: string | null;
  /** The names of the witnesses that did not sign the last checkpoint. */
  missing_witnesses: string | null;
}

/** A tree as far as everyone is shown it. */
export type PublicTree = Pick<TreeRow, 'epoch' | 'size' | 'position' | 'checkpoint'>;

export interface LeafRow extends LeafOpening {
  position: number;
  epoch: number;
  leaf: number;
}

/** The tree of the newest epoch that has one. */
export const newestTree = (): Sql<TreeRow> =>
  sql`SELECT epoch, origin, verifiers, previous, size, position, checkpoint, signed_at, refusal,
      missing_witnesses
    FROM seal_trees ORDER BY epoch DESC LIMIT 1`;

/** The newest tree up to the checkpoint that is public, which is the last one that witnesses were asked for. */
export const publicTree = (): Sql<PublicTree> =>
  sql`SELECT epoch, coalesce(published_size, size) AS size, coalesce(published_position, position) AS position,
      coalesce(published_checkpoint, checkpoint) AS checkpoint
    FROM seal_trees ORDER BY epoch DESC LIMIT 1`;

/** What is published of the newest tree. */
export const publication = (): Sql<
  Pick<TreeRow, 'epoch' | 'origin' | 'size' | 'position' | 'checkpoint'> & {
    published: string | null;
    missing: string | null;
  }
> =>
  sql`SELECT epoch, origin, size, position, checkpoint, published_checkpoint AS published,
      missing_witnesses AS missing
    FROM seal_trees ORDER BY epoch DESC LIMIT 1`;

/**
 * Publishes a checkpoint of a tree, unless a later one is public; null: the last one is public at any time. `missing` says
 * which witnesses have not signed it, and `signers` are the names of those that have just done so.
 */
export const publish = (
  epoch: number,
  tree: PublicTree | null,
  missing: string | null = null,
  signers: readonly string[] = [],
): Sql =>
  sql`UPDATE seal_trees SET published_checkpoint = ${tree?.checkpoint ?? null},
      published_size = ${tree?.size ?? null}, published_position = ${tree?.position ?? null},
      missing_witnesses = ${missing},
      cosigned = nullif(coalesce(cosigned, '{}') || (SELECT coalesce(jsonb_object_agg(name, clock_timestamp()), '{}')
        FROM unnest(${signers}::text[]) name), '{}')
    WHERE epoch = ${epoch} AND coalesce(published_size, 0) <= coalesce(${tree?.size ?? null}::bigint, size)`;

/** The last checkpoint of a tree that was emptied with a sandbox. */
export const emptiedCheckpoint = (): Sql<{ checkpoint: string | null }> =>
  sql`SELECT last_checkpoint AS checkpoint FROM sandbox`;

/** The keys of the newest tree, and whether the log was refused when it was to be sealed last. */
export const sealSummary = (): Sql<{ verifiers: string[]; refused: boolean }> =>
  sql`SELECT verifiers, refusal IS NOT NULL AS refused FROM seal_trees ORDER BY epoch DESC LIMIT 1`;

export interface Unsealed {
  /** Events that are not sealed; `MAX_COUNTED_EVENTS` at most. */
  waiting: number;
  /** Age of the oldest of them, in seconds; 0 without one. */
  seconds: number;
}

const MAX_COUNTED_EVENTS = 100_000;

/** What waits to be sealed after the position of a tree. */
export const unsealedAfter = (position: number): Sql<Unsealed> =>
  sql`SELECT (SELECT count(*)::int FROM (SELECT position FROM events WHERE position > ${position}::bigint
        LIMIT ${MAX_COUNTED_EVENTS}) events) AS waiting,
      coalesce((SELECT extract(epoch FROM clock_timestamp() - recorded_at)::float8 FROM events
        WHERE position > ${position}::bigint ORDER BY position LIMIT 1), 0) AS seconds`;

/** The checkpoint that is public. */
export const publicCheckpoint = (): Sql<{ checkpoint: string }> =>
  sql`SELECT coalesce(published_checkpoint, checkpoint) AS checkpoint FROM seal_trees ORDER BY epoch DESC LIMIT 1`;

/** What witnesses have signed of the newest tree. */
export interface Cosigned {
  /** The checkpoint that is public, with their signatures. */
  checkpoint: string;
  /** When each of them last co-signed one, by name. */
  cosigned: Readonly<Record<string, string>> | null;
  /** Which of them have not signed it when they were asked last, and why. */
  missing: string | null;
}

export const cosignedCheckpoint = (): Sql<Cosigned> =>
  sql`SELECT coalesce(published_checkpoint, checkpoint) AS checkpoint, cosigned, missing_witnesses AS missing
    FROM seal_trees ORDER BY epoch DESC LIMIT 1`;

/** A tile of the newest tree, as far as it is filled. */
export const newestTile = ({ level, index }: TilePlace): Sql<{ hashes: Buffer }> =>
  sql`SELECT hashes FROM seal_tiles WHERE epoch = (SELECT max(epoch) FROM seal_trees)
    AND level = ${level} AND index = ${index}`;

/** The tiles at these places. */
export const tilesAt = (epoch: number, places: readonly TilePlace[]): Sql<Tile> =>
  sql`SELECT level, index, hashes FROM unnest(${places.map(({ level }) => level)}::smallint[],
      ${places.map(({ index }) => index)}::bigint[]) AS place (level, index)
    JOIN seal_tiles tile USING (level, index) WHERE tile.epoch = ${epoch}`;

/** The columns of an event as it is sealed. */
const SEALED = `event.position, event.owner_id, event.stream_id, event.stream_version, event.event_id,
    event.type, event.data, event.personal, event.actor,
    to_char(event.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS recorded_at`;

/** Events after a position, up to and including another, as they are sealed. */
export const eventsToSeal = (after: number, to: number): Sql<SealedEvent> =>
  named(
    `SELECT ${SEALED} FROM events event WHERE event.position > $1 AND event.position <= $2
    ORDER BY event.position`,
    [after, to],
  );

/** Events with their leaves in the tree of the epoch `$1`. */
export const WITH_LEAVES = `SELECT ${SEALED}, leaf.leaf, leaf.facts_salt, leaf.words_commitment, leaf.words_salt
    FROM events event
      LEFT JOIN seal_leaves leaf ON leaf.position = event.position AND leaf.epoch = $1`;

/**
 * The events of an owner after one of them, in the order of their streams, with their leaves in the tree of
 * an epoch.
 */
export const eventsOfOwner = (
  epoch: number,
  ownerId: string,
  after: { stream: string; version: number },
  limit: number,
): Sql<EventWithLeaf> =>
  named(
    `${WITH_LEAVES}
    WHERE event.owner_id = $2 AND (event.stream_id, event.stream_version) > ($3, $4)
    ORDER BY event.stream_id, event.stream_version LIMIT $5`,
    [epoch, ownerId, after.stream, after.version, limit],
  );

/**
 * What a member did to the cases of others, after a position, up to and including another, with the leaves in the tree
 * of an epoch. A case has thousands of events of others, so an index has these alone.
 */
export const actsOnCases = (
  epoch: number,
  memberId: string,
  after: number,
  to: number,
  limit: number,
): Sql<EventWithLeaf> =>
  named(
    `${WITH_LEAVES}
    WHERE event.actor->>'id' = $2 AND event.position > $3 AND event.position <= $4
      AND event.actor->>'type' = 'member' AND event.actor->>'id' <> event.owner_id::text
      AND event.stream_id LIKE 'case-%'
    ORDER BY event.position LIMIT $5`,
    [epoch, memberId, after, to, limit],
  );

/** The events at these positions, in their order. */
export const eventsAt = (positions: readonly number[]): Sql<SealedEvent> =>
  named(
    `SELECT ${SEALED} FROM events event WHERE event.position IN (SELECT unnest($1::bigint[]))
    ORDER BY event.position`,
    [positions],
  );

/** The leaves of the events at these positions, in the tree of an epoch. */
export const leavesAt = (epoch: number, positions: readonly number[]): Sql<LeafRow> =>
  named(
    `SELECT position, epoch, leaf, facts_salt, words_commitment, words_salt FROM seal_leaves
    WHERE position IN (SELECT unnest($2::bigint[])) AND epoch = $1`,
    [epoch, positions],
  );

/** Events of some types at the beginning of a stream, with their leaves in the tree of an epoch. */
export const firstEventsOfStream = (
  epoch: number,
  ownerId: string,
  stream: string,
  types: readonly string[],
  versions: number,
): Sql<EventWithLeaf> =>
  named(
    `${WITH_LEAVES}
    WHERE event.owner_id = $2 AND event.stream_id = $3 AND event.type = ANY($4::text[])
      AND event.stream_version <= $5
    ORDER BY event.stream_version`,
    [epoch, ownerId, stream, types, versions],
  );

/** Events are looked for at the beginning of a record's stream, so that thousands of reports cost nothing. */
export const MAX_RECORD_VERSION = 100;

/** The leaf that has the present text of a record; null if it is not in the public part of the newest tree. */
export const recordLeaf = (ownerId: string, stream: string): Sql<{ leaf: number | null }> =>
  named(
    `SELECT (SELECT record.leaf FROM (SELECT epoch, coalesce(published_size, size) AS size
        FROM seal_trees ORDER BY epoch DESC LIMIT 1) tree
      WHERE tree.epoch = record.epoch AND record.leaf < tree.size) AS leaf
    FROM record_leaves record WHERE owner_id = $1 AND stream_id = $2 AND stream_version <= $3
    ORDER BY stream_version DESC LIMIT 1`,
    [ownerId, stream, MAX_RECORD_VERSION],
  );

/** The first position after another that has an event. */
export const nextSealable = (after: number, to: number): Sql<{ position: number | null }> =>
  sql`SELECT min(position) AS position FROM events
    WHERE position > ${after} AND position <= ${to}`;

/** The first position after another that has an event, or a leaf of a tree. */
export const nextSealed = (
  epoch: number,
  after: number,
  to: number,
): Sql<{ position: number | null }> =>
  sql`SELECT least((SELECT min(position) FROM events
      WHERE position > ${after} AND position <= ${to}),
    (SELECT min(position) FROM seal_leaves WHERE position > ${after} AND position <= ${to}
      AND epoch = ${epoch})) AS position`;

/** Leaves of the events after a position, up to and including another. */
export const leavesBetween = (after: number, to: number): Sql<LeafRow> =>
  sql`SELECT position, epoch, leaf, facts_salt, words_commitment, words_salt FROM seal_leaves
    WHERE position > ${after} AND position <= ${to} ORDER BY position`;

/** How many events, and leaves of a tree, there are after a position, up to and including another. */
export const countSealed = (
  epoch: number,
  after: number,
  to: number,
): Sql<{ events: number; leaves: number }> =>
  sql`SELECT (SELECT count(*)::int FROM events
      WHERE position > ${after} AND position <= ${to}) AS events,
    (SELECT count(*)::int FROM seal_leaves
      WHERE position > ${after} AND position <= ${to} AND epoch = ${epoch}) AS leaves`;

/**
 * Keeps erasures out until the transaction ends: the trigger of `events` takes the same lock. Also keeps
 * out other processes that seal.
 */
export const lockSealing = (): Sql => sql`SELECT pg_advisory_xact_lock(hashtext('seal-log'))`;

/** What must be as it was when a batch was prepared: the tree, and which events have words. */
export const batchState = (
  epoch: number,
  after: number,
  to: number,
): Sql<{ epoch: number; checkpoint: string | null; words: number }> =>
  sql`SELECT (SELECT max(epoch) FROM log_epochs) AS epoch,
    (SELECT checkpoint FROM seal_trees WHERE epoch = ${epoch}) AS checkpoint,
    (SELECT count(*)::int FROM events WHERE position > ${after} AND position <= ${to}
      AND personal IS NOT NULL) AS words`;

export const storeLeaves = (leaves: readonly LeafRow[]): Sql =>
  sql`INSERT INTO seal_leaves (position, epoch, leaf, facts_salt, words_commitment, words_salt)
    SELECT * FROM unnest(${leaves.map((one) => one.position)}::bigint[],
      ${leaves.map((one) => one.epoch)}::bigint[], ${leaves.map((one) => one.leaf)}::bigint[],
      ${leaves.map((one) => one.facts_salt)}::bytea[],
      ${leaves.map((one) => one.words_commitment)}::bytea[],
      ${leaves.map((one) => one.words_salt)}::bytea[])
    ON CONFLICT (position) DO UPDATE SET epoch = EXCLUDED.epoch, leaf = EXCLUDED.leaf,
      words_commitment = EXCLUDED.words_commitment, words_salt = EXCLUDED.words_salt
      WHERE seal_leaves.epoch < EXCLUDED.epoch`;

export const storeTiles = (epoch: number, tiles: readonly Tile[]): Sql =>
  sql`INSERT INTO seal_tiles (epoch, level, index, hashes)
    SELECT ${epoch}::bigint, * FROM unnest(${tiles.map(({ level }) => level)}::smallint[],
      ${tiles.map(({ index }) => index)}::bigint[], ${tiles.map(({ hashes }) => hashes)}::bytea[])
    ON CONFLICT (epoch, level, index) DO UPDATE SET hashes = EXCLUDED.hashes`;

export const storeTree = (
  tree: Omit<TreeRow, 'signed_at' | 'refusal' | 'missing_witnesses'>,
): Sql =>
  sql`INSERT INTO seal_trees (epoch, origin, verifiers, previous, size, position, checkpoint, signed_at)
    VALUES (${tree.epoch}, ${tree.origin}, ${tree.verifiers}, ${tree.previous}, ${tree.size},
      ${tree.position}, ${tree.checkpoint}, clock_timestamp())
    ON CONFLICT (epoch) DO UPDATE SET verifiers = EXCLUDED.verifiers, size = EXCLUDED.size,
      position = EXCLUDED.position, checkpoint = EXCLUDED.checkpoint,
      signed_at = EXCLUDED.signed_at, refusal = NULL`;

/** Notes why nothing is signed; null once it is. */
export const noteRefusal = (epoch: number, refusal: string | null): Sql =>
  sql`UPDATE seal_trees SET refusal = ${refusal}
    WHERE epoch = ${epoch} AND refusal IS DISTINCT FROM ${refusal}::text`;

/** A tile that a tree of this size must have is not stored, or has fewer hashes. */
export class TileIncomplete extends Error {}

/** Reads the nodes of a stored tree of `size` leaves. Throws `TileIncomplete`. */
export const storedNodes = (pool: pg.Pool, epoch: number, size: number): ReadNode =>
  nodeReader(async (place) => {
    const [tile] = await query(pool, tilesAt(epoch, [place]));
    if (!tile || tile.hashes.length < place.width * HASH_BYTES)
      throw new TileIncomplete(`tile ${place.level}/${place.index} is incomplete`);
    return tile.hashes;
  }, size);
