import type pg from 'pg';
import { pendingMigrations } from '../postgres/migrate.ts';
import { query } from '../postgres/query.ts';
import { named } from '../sql.ts';

export type Readiness = ReturnType<typeof watchReadiness>;

const SAMPLE_MS = 5000;

/**
 * Watches whether the databases are reachable and fully migrated, and whether `holds`. `check`
 * queries them now;
 * `sampled` returns the last result, which a timer refreshes every 5 s, so that status requests
 * query nothing.
 */
export function watchReadiness(
  pools: readonly pg.Pool[],
  holds: () => Promise<boolean> = async () => true,
) {
  let last = true;

  async function check(): Promise<boolean> {
    try {
      const pending = await Promise.all(
        pools.map((pool) =>
          pendingMigrations(async (text) => ({ rows: await query(pool, named(text)) })),
        ),
      );
      last = pending.flat().length === 0 && (await holds());
    } catch {
      last = false;
    }
    return last;
  }

  const timer = setInterval(() => void check(), SAMPLE_MS).unref();
  return { check, sampled: () => last, stop: () => clearInterval(timer) };
}
