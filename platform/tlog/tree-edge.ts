import { EMPTY_ROOT, HASH_BYTES, nodeHash } from './merkle.ts';
import { edgeTiles, hashAt, subtreeHash, TILE_WIDTH, type TilePlace } from './tiles.ts';

/** A tile with its hashes, as it is stored. */
export interface Tile {
  level: number;
  index: number;
  hashes: Buffer;
}

/**
 * The right edge of a tree: what is needed to append leaves and to compute the root. `tiles` are the
 * partial tiles of a tree of `size` leaves, or of a later one; throws if one is missing or has fewer hashes.
 */
export function createTreeEdge(size: number, tiles: readonly Tile[]) {
  const levels: { index: number; hashes: Buffer[] }[] = [];
  for (let level = 0; TILE_WIDTH ** level <= size; level++) {
    const count = Math.floor(size / TILE_WIDTH ** level);
    levels.push({ index: Math.floor(count / TILE_WIDTH), hashes: [] });
  }
  for (const place of edgeTiles(size)) {
    const hashes = hashesOf(place, tiles);
    (levels[place.level] as { hashes: Buffer[] }).hashes = hashes;
  }
  let count = size;
  const changed = new Map<string, Omit<Tile, 'hashes'> & { hashes: readonly Buffer[] }>();

  function push(level: number, hash: Buffer): void {
    levels[level] ??= { index: 0, hashes: [] };
    const edge = levels[level];
    edge.hashes.push(hash);
    changed.set(`${level}/${edge.index}`, { level, ...edge });
    if (edge.hashes.length < TILE_WIDTH) return;
    levels[level] = { index: edge.index + 1, hashes: [] };
    push(level + 1, subtreeHash(Buffer.concat(edge.hashes)));
  }

  return {
    /** Appends leaves by their hashes. */
    append(hashes: readonly Buffer[]): void {
      for (const hash of hashes) push(0, hash);
      count += hashes.length;
    },
    size: () => count,
    /** The tiles that `append` has changed since they were taken last. */
    takeChanged(): Tile[] {
      const tiles = [...changed.values()];
      changed.clear();
      return tiles.map(({ hashes, ...place }) => ({ ...place, hashes: Buffer.concat(hashes) }));
    },
    /** The root of the tree. */
    root(): Buffer {
      // Complete subtrees from the left, which are larger, to the right.
      const peaks = [...levels].reverse().flatMap(({ hashes }) => peaksOf(hashes));
      const last = peaks.pop();
      return last ? peaks.reduceRight((right, left) => nodeHash(left, right), last) : EMPTY_ROOT;
    },
  };
}

function hashesOf({ level, index, width }: TilePlace, tiles: readonly Tile[]): Buffer[] {
  const tile = tiles.find((one) => one.level === level && one.index === index);
  if (!tile || tile.hashes.length < width * HASH_BYTES)
    throw new Error(`tile ${level}/${index} does not have the ${width} hashes of the tree`);
  return Array.from({ length: width }, (_, at) => hashAt(tile.hashes, at));
}

/** The roots of the complete subtrees of fewer than 256 nodes, from left to right. */
function peaksOf(hashes: readonly Buffer[]): Buffer[] {
  const peaks: Buffer[] = [];
  let from = 0;
  for (let size = TILE_WIDTH / 2; size >= 1; size /= 2) {
    if (hashes.length - from < size) continue;
    peaks.push(subtreeHash(Buffer.concat(hashes.slice(from, from + size))));
    from += size;
  }
  return peaks;
}
