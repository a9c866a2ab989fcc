import { HASH_BYTES, nodeHash, type ReadNode } from './merkle.ts';

// Tiles of C2SP tlog-tiles: 256 hashes of one level of the tree, of which level 0 has the leaves, and
// each entry of level L + 1 is the root of a full tile of level L. https://c2sp.org/tlog-tiles

/** Hashes of a full tile. */
export const TILE_WIDTH = 256;
/** Tiles span eight levels of the tree. */
const TILE_HEIGHT = 8;
const MAX_LEVEL = 63;

/** A tile, and how many of its hashes are meant: 256, or fewer for the partial tile at the end. */
export interface TilePlace {
  level: number;
  index: number;
  width: number;
}

/** Reads a tile: its first `width` hashes, one after the other. Throws if the tile has fewer. */
export type ReadTile = (place: TilePlace) => Promise<Buffer>;

/** How many hashes a level has in a tree of this size. */
const hashesOf = (size: number, level: number): number => Math.floor(size / TILE_WIDTH ** level);

/** The tile at the end of each level of a tree, if it is partial, from the leaves up. */
export function edgeTiles(size: number): TilePlace[] {
  const places: TilePlace[] = [];
  for (let level = 0; hashesOf(size, level) > 0; level++) {
    const count = hashesOf(size, level);
    const width = count % TILE_WIDTH;
    if (width > 0) places.push({ level, index: Math.floor(count / TILE_WIDTH), width });
  }
  return places;
}

/** The tiles that have a leaf of a tree, and the nodes above it, from the leaf up. */
export function ancestorTiles(leaf: number, size: number): TilePlace[] {
  const places: TilePlace[] = [];
  for (let level = 0; hashesOf(size, level) > 0; level++) {
    const index = Math.floor(leaf / TILE_WIDTH ** (level + 1));
    const width = Math.min(TILE_WIDTH, hashesOf(size, level) - index * TILE_WIDTH);
    if (width > 0) places.push({ level, index, width });
  }
  return places;
}

/** The hash of a tile's part, whose length is a power of two. */
export function subtreeHash(hashes: Buffer): Buffer {
  let nodes = Array.from({ length: hashes.length / HASH_BYTES }, (_, index) =>
    hashAt(hashes, index),
  );
  while (nodes.length > 1)
    nodes = Array.from({ length: nodes.length / 2 }, (_, index) =>
      nodeHash(nodes[2 * index] as Buffer, nodes[2 * index + 1] as Buffer),
    );
  return nodes[0] as Buffer;
}

/** One hash of a tile. */
export const hashAt = (hashes: Buffer, index: number): Buffer =>
  hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);

/** Reads nodes of a tree of `size` leaves from its tiles, each of which is read once. */
export function nodeReader(readTile: ReadTile, size: number): ReadNode {
  const tiles = new Map<string, Promise<Buffer>>();
  return async (nodeLevel, nodeIndex) => {
    const level = Math.floor(nodeLevel / TILE_HEIGHT);
    const span = 2 ** (nodeLevel % TILE_HEIGHT);
    const index = Math.floor((nodeIndex * span) / TILE_WIDTH);
    const width = Math.min(TILE_WIDTH, hashesOf(size, level) - index * TILE_WIDTH);
    const key = `${level}/${index}`;
    const tile = tiles.get(key) ?? readTile({ level, index, width });
    tiles.set(key, tile);
    const from = nodeIndex * span - index * TILE_WIDTH;
    return subtreeHash((await tile).subarray(from * HASH_BYTES, (from + span) * HASH_BYTES));
  };
}

/** The path of a tile below the address of its log, such as `tile/0/x001/067.p/5`. */
export function tilePath({ level, index, width }: TilePlace): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const PATH =
  /^(?<level>0|[1-9]\d?)\/(?<index>(?:x\d{3}\/){0,4}\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;

/** Reads `LEVEL/INDEX` or `LEVEL/INDEX.p/WIDTH`; undefined for any spelling but that of `tilePath`. */
export function parseTilePath(text: string): TilePlace | undefined {
  const { level, index = '', width } = PATH.exec(text)?.groups ?? {};
  if (level === undefined) return undefined;
  const place = {
    level: Number(level),
    index: Number(index.replace(/[x/]/g, '')),
    width: Number(width ?? TILE_WIDTH),
  };
  const isPlace = place.level <= MAX_LEVEL && (width === undefined || place.width < TILE_WIDTH);
  return isPlace && tilePath(place) === `tile/${text}` ? place : undefined;
}
