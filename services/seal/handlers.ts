import type pg from 'pg';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { query } from '../../platform/postgres/query.ts';
import { refuse } from '../../platform/refusal.ts';
import { HASH_BYTES } from '../../platform/tlog/merkle.ts';
import { parseTilePath, TILE_WIDTH } from '../../platform/tlog/tiles.ts';
import { sealContract } from './contract.ts';
import { newestCheckpoint, newestTile } from './tree-store.ts';

export interface SealReadDeps {
  readPool: pg.Pool;
}

const PARTIAL = 'no-cache';
/** A week: after a restore, a tile of the new tree may differ from that of the tree before. */
const FULL = 'public, max-age=604800, immutable';

function sealHandlers({ readPool }: SealReadDeps): Handlers<typeof sealContract> {
  async function tile(...parts: readonly string[]) {
    const place = parseTilePath(parts.join('/'));
    const [stored] = place ? await query(readPool, newestTile(place)) : [];
    const bytes = stored?.hashes.subarray(0, (place?.width ?? 0) * HASH_BYTES);
    if (!place || bytes?.length !== place.width * HASH_BYTES)
      return refuse('not_found', { message: 'Not found: the sealed log has no such tile.' });
    return {
      status: 200 as const,
      content: { type: 'application/octet-stream', bytes },
      headers: { 'cache-control': place.width === TILE_WIDTH ? FULL : PARTIAL },
    };
  }

  return {
    'log.checkpoint': async () => {
      const [newest] = await query(readPool, newestCheckpoint());
      if (!newest) return refuse('not_found', { message: 'Not found: this log is not sealed.' });
      return {
        status: 200,
        content: { type: 'text/plain; charset=utf-8', bytes: newest.checkpoint },
        headers: { 'cache-control': PARTIAL },
      };
    },
    'log.tile': ({ params }) => tile(params.level, params.tile),
    'log.tile_2': ({ params }) => tile(params.level, params.tile, params.part),
    'log.tile_3': ({ params }) => tile(params.level, params.tile, params.part, params.last),
  };
}

export const routes = (deps: SealReadDeps): readonly Routes[] => [
  implement(sealContract, sealHandlers(deps)),
];
