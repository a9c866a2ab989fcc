import { setTimeout as sleep } from 'node:timers/promises';
import { failureLine } from '../../platform/command-line/failure.ts';
import { addressesOf } from '../../platform/postgres/addresses.ts';
import { sql } from '../../platform/sql.ts';
import { type Ask, type Context, connectTo } from './connection.ts';
import { type Finding, ok, warn } from './finding.ts';

const POLL_MS = 100;

/** Checks that each read replica answers, and reaches what the primary has within its largest lag. */
export async function checkReplica({ config, ask }: Context): Promise<Finding[]> {
  const { databaseReadUrl, replicaMaxLagSeconds } = config;
  if (!databaseReadUrl) return [ok('No read replica is configured')];
  const [primary] = await ask(sql<{ position: string }>`
    SELECT pg_current_wal_lsn()::text AS position`);
  const check = (url: string) => checkOne(url, primary?.position ?? '', replicaMaxLagSeconds);
  return Promise.all(addressesOf(databaseReadUrl).map(check));
}

async function checkOne(url: string, position: string, maxLagSeconds: number): Promise<Finding> {
  const { host } = new URL(url);
  try {
    return await connectTo(url, async (_client, askReplica) => {
      const until = performance.now() + 1000 * maxLagSeconds;
      while (!(await hasReached(askReplica, position))) {
        if (performance.now() > until)
          return warn(
            `The replica ${host} lags by more than ${maxLagSeconds} s, so that others answer its reads`,
            'take it out of DATABASE_READ_URL until it has caught up',
          );
        await sleep(POLL_MS);
      }
      return ok(`The replica ${host} lags by less than ${maxLagSeconds} s`);
    });
  } catch (error) {
    return warn(
      `The replica ${host} does not answer (${failureLine(error).trim()}), so that others answer its reads`,
      'start the replica, or take it out of DATABASE_READ_URL',
    );
  }
}

/** A replica that is not physical has no position to compare. */
async function hasReached(ask: Ask, position: string): Promise<boolean> {
  const [row] = await ask(sql<{ reached: boolean }>`SELECT NOT pg_is_in_recovery()
    OR pg_last_wal_replay_lsn() >= ${position}::pg_lsn AS reached`);
  return row?.reached ?? false;
}
