import { setTimeout as sleep } from 'node:timers/promises';
import { failureLine } from '../../platform/command-line/failure.ts';
import { sql } from '../../platform/sql.ts';
import { type Ask, type Context, connectTo } from './connection.ts';
import { type Finding, ok, warn } from './finding.ts';

const POLL_MS = 100;

/** Checks that the read replica answers, and reaches what the primary has within its largest lag. */
export async function checkReplica({ config, ask }: Context): Promise<Finding[]> {
  const { databaseReadUrl: url, replicaMaxLagSeconds: maxLagSeconds } = config;
  if (!url) return [ok('No read replica is configured')];
  const [primary] = await ask(sql<{ position: string }>`
    SELECT pg_current_wal_lsn()::text AS position`);
  try {
    return await connectTo(url, async (_client, askReplica) => {
      const until = performance.now() + 1000 * maxLagSeconds;
      while (!(await hasReached(askReplica, primary?.position ?? ''))) {
        if (performance.now() > until)
          return [
            warn(
              `The replica lags by more than ${maxLagSeconds} s, so that the primary answers all reads`,
              'unset DATABASE_READ_URL until it has caught up',
            ),
          ];
        await sleep(POLL_MS);
      }
      return [ok(`The replica lags by less than ${maxLagSeconds} s`)];
    });
  } catch (error) {
    return [
      warn(
        `The replica does not answer (${failureLine(error).trim()}), so that the primary answers all reads`,
        'start the replica, or unset DATABASE_READ_URL',
      ),
    ];
  }
}

/** A replica that is not physical has no position to compare. */
async function hasReached(ask: Ask, position: string): Promise<boolean> {
  const [row] = await ask(sql<{ reached: boolean }>`SELECT NOT pg_is_in_recovery()
    OR pg_last_wal_replay_lsn() >= ${position}::pg_lsn AS reached`);
  return row?.reached ?? false;
}
