import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { promptly } from '../../platform/telemetry/readiness.ts';
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

/**
 * Reads the status at most every five seconds. While the database fails, `read` returns what was read
 * last, and `readPromptly` also while the database is slow.
 */
export function createSealStatus(pool: pg.Pool) {
  let last = NOTHING;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const [tree] = await query(pool, sealSummary());
    last = tree ? { keys: tree.verifiers, refused: tree.refused } : NOTHING;
  }

  async function read(): Promise<SealStatus> {
    if (performance.now() - readAt > KEPT_MS)
      reading ??= refresh()
        .catch(() => undefined)
        .finally(() => {
          readAt = performance.now();
          reading = undefined;
        });
    await reading;
    return last;
  }

  const readPromptly = async (): Promise<SealStatus> => (await promptly(read())) ?? last;
  return { read, readPromptly };
}
