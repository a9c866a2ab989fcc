import { setTimeout as sleep } from 'node:timers/promises';
import { failureLine } from '../../platform/command-line/failure.ts';
import { addressesOf } from '../../platform/postgres/addresses.ts';
import { sql } from '../../platform/sql.ts';
import { citusVersion, findLayoutFaults } from '../../services/cluster.ts';
import {
  type Ask,
  bad,
  type Context,
  connectTo,
  engineOf,
  type Finding,
  ok,
  orOk,
  warn,
} from './check.ts';

interface Standbys {
  names: string;
  visible: boolean;
  role: string;
  connected: number;
}

/** A standby that waits for its turn (`potential`) takes the place of one that is lost. */
const STANDBYS = sql<Standbys>`SELECT current_setting('synchronous_standby_names') AS names,
  pg_has_role('pg_read_all_stats', 'USAGE') AS visible, quote_ident(current_user) AS role,
  (SELECT count(*) FROM pg_stat_replication
    WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum', 'potential')) AS connected`;

/** Checks that synchronous standbys, if there are any, are connected, and that one may be lost. */
export async function checkStandbys({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [found] = await ask(STANDBYS);
  if (!found?.names) return [ok('No synchronous standby is named')];
  const { names, visible, role, connected } = found;
  if (!visible)
    return [bad('Standbys cannot be checked by this role', `GRANT pg_monitor TO ${role}`)];
  const needed = countNeeded(names);
  if (connected < needed)
    return [
      bad(
        `Writes wait: ${connected} of ${needed} synchronous standbys are connected; start ${names}, or go on without`,
        "ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()",
      ),
    ];
  if (connected === needed)
    return [
      warn(
        'The loss of one synchronous standby stops writes; start another and name it as well',
        "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (a, b)'; SELECT pg_reload_conf()",
      ),
    ];
  return [ok(`${connected} synchronous standbys are connected, and commits wait for ${needed}`)];
}

/** The number of standbys for which a commit waits: of `FIRST 2 (a, b)`, `2 (a, b)` or `a, b`. */
const countNeeded = (names: string): number =>
  Number(/^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1);

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

/** The version with which the service was run: docs/operating/distribute.md. */
const TESTED = '13.2';

/** Checks that a cluster has the layout that `npm run release -- --distribute` makes, and confirms its commits. */
export async function checkCluster({
  client,
  ask,
}: Pick<Context, 'client' | 'ask'>): Promise<Finding[]> {
  const { distributed } = await engineOf(ask);
  if (!distributed) return [ok('The log is on one server')];
  const version = (await citusVersion(client)) ?? '';
  const faults = await findLayoutFaults(client);
  return orOk(
    [
      ...faults.map(({ fault, command }) => warn(fault, command)),
      !version.startsWith(`${TESTED}.`) &&
        warn(
          `The service was tried on Citus ${TESTED}, and this is ${version}`,
          'docs/operating/distribute.md',
        ),
    ],
    `The log is distributed with Citus ${version}`,
  );
}
