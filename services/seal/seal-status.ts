import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { sealSummary } from './tree-store.ts';

/** What a process tells of the sealed log beside its checkpoint. */
export interface SealStatus {
  /** The keys that verify checkpoints, newest first; empty if nothing is sealed. */
  keys: readonly string[];
  /** Whether the log was refused when it was to be sealed last. */
  refused: boolean;
}

const NOTHING: SealStatus = { keys: [], refused: false };
const KEPT_MS = 5000;

/** Reads the status at most every five seconds. While the database fails, returns what was read last. */
export function createSealStatus(pool: pg.Pool): () => Promise<SealStatus> {
  let last = NOTHING;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const [tree] = await query(pool, sealSummary());
    last = tree ? { keys: tree.verifiers, refused: tree.refused } : NOTHING;
  }

  return async () => {
    if (performance.now() - readAt > KEPT_MS)
      reading ??= read()
        .catch(() => undefined)
        .finally(() => {
          readAt = performance.now();
          reading = undefined;
        });
    await reading;
    return last;
  };
}
