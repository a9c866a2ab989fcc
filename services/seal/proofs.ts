import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { inclusionProof } from '../../platform/tlog/merkle.ts';
import {
  ancestorTiles,
  edgeTiles,
  nodeReader,
  type ReadTile,
  type TilePlace,
} from '../../platform/tlog/tiles.ts';
import {
  type LeafOpening,
  type ProvenField,
  provenFacts,
  provenWords,
  type SealedEvent,
} from './leaf.ts';
import { type EventWithLeaf, type TreeRow, tilesAt } from './tree-store.ts';

/** Decides which fields of an event a reader is shown. */
export type Shows = (event: SealedEvent, field: string) => boolean;

/** A proof that an event is in the log, without the fields that its reader may not read. */
export interface EventProof {
  leaf: number;
  facts: ProvenField[];
  words: ProvenField[] | null;
  words_hash: string | null;
  path: string[];
}

/** Proves the events that are in the tree, in the given order; the others are left out. */
export async function proveEvents(
  pool: pg.Pool,
  tree: Pick<TreeRow, 'epoch' | 'size'>,
  events: readonly EventWithLeaf[],
  shows: Shows,
): Promise<EventProof[]> {
  const sealed = events.filter(
    (event): event is EventWithLeaf & LeafOpening & { leaf: number } =>
      event.leaf !== null && event.leaf < tree.size,
  );
  const read = nodeReader(await tileReader(pool, tree, sealed), tree.size);
  return Promise.all(
    sealed.map(async (event) => {
      const shown = (fields: readonly ProvenField[]): ProvenField[] =>
        fields.map((field) =>
          shows(event, field.name) ? field : { name: field.name, hash: field.hash },
        );
      const words = provenWords(event, event);
      const path = await inclusionProof(read, event.leaf, tree.size);
      return {
        leaf: event.leaf,
        facts: shown(provenFacts(event, event)),
        words: words ? shown(words) : null,
        words_hash: event.words_commitment?.toString('hex') ?? null,
        path: path.map((hash) => hash.toString('hex')),
      };
    }),
  );
}

/** Reads the tiles above these leaves, and those at the end of the tree, in one statement. */
async function tileReader(
  pool: pg.Pool,
  { epoch, size }: Pick<TreeRow, 'epoch' | 'size'>,
  leaves: readonly { leaf: number }[],
): Promise<ReadTile> {
  const keyOf = ({ level, index }: Pick<TilePlace, 'level' | 'index'>) => `${level}/${index}`;
  const places = new Map(
    [...leaves.flatMap(({ leaf }) => ancestorTiles(leaf, size)), ...edgeTiles(size)].map(
      (place) => [keyOf(place), place] as const,
    ),
  );
  const tiles = new Map(
    (await query(pool, tilesAt(epoch, [...places.values()]))).map(
      (tile) => [keyOf(tile), tile.hashes] as const,
    ),
  );
  return async (place) => {
    const hashes = tiles.get(keyOf(place));
    if (!hashes) throw new Error(`tile ${keyOf(place)} is not stored`);
    return hashes;
  };
}
