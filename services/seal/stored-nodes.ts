import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { HASH_BYTES, type ReadNode } from '../../platform/tlog/merkle.ts';
import { nodeReader } from '../../platform/tlog/tiles.ts';
import { tilesAt } from './tree-store.ts';

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
