import type pg from 'pg';
import type { Logger } from 'pino';
import { isReview, MODERATION_TOPIC } from '../domain/moderation/subject.ts';
import type { Config } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { createEventStore } from '../platform/eventstore/event-store.ts';
import { createLogWatch } from '../platform/eventstore/log-watch.ts';
import { jobSender } from '../platform/jobs/boss.ts';
import { jobsTopic } from '../platform/jobs/queues.ts';
import { requireSameKeys } from '../platform/keys/key-checks.ts';
import { keyRing } from '../platform/keys/key-ring.ts';
import { serverKeys } from '../platform/keys/server-keys.ts';
import { addressesOf } from '../platform/postgres/addresses.ts';
import { compareClocks } from '../platform/postgres/clock.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import { readEngine } from '../platform/postgres/engine.ts';
import { requireFinishedRestore } from '../platform/postgres/migrate.ts';
import { createNotifications } from '../platform/postgres/notifications.ts';
import { createPool, withClient } from '../platform/postgres/pool.ts';
import {
  isPooled,
  leadsThroughPooler,
  requirePreparedStatements,
} from '../platform/postgres/pooler.ts';
import { publicReads, watchReplicas } from '../platform/postgres/replica.ts';
import type { Sql } from '../platform/sql.ts';
import { withTraces } from '../platform/telemetry/traced-store.ts';
import { withGroupCommit } from '../platform/throughput/group-commit.ts';
import { mayOwn } from '../projections/stream-owners.ts';
import { affectedMembers, catalogue, jobTypes, projectorFor } from './features.ts';
import { requireKeys } from './membership/key-usage.ts';
import { requireSandboxMark } from './sandbox.ts';

/** How often a process looks whether a lost log goes on. */
const RECHECK_MS = 1000;
/** How long a start looks for warnings, in milliseconds: a busy machine takes its time, and no warning may be missed. */
const WARNINGS_WITHIN_MS = 15_000;

export type Core = Awaited<ReturnType<typeof createCore>>;

/**
 * Opens the storage that every process uses: pools, keys, jobs and the event store. `logger` gets a
 * line for the operator when acknowledged writes are or may be missing, and warnings at the start.
 */
export async function createCore(
  config: Config,
  application: string,
  logger?: Pick<Logger, 'fatal' | 'warn'>,
  statementMs?: number,
) {
  const url = databaseUrl(config);
  const directUrl = config.databaseDirectUrl ?? url;
  const keys = keyRing(serverKeys(config));
  const logWatch = createLogWatch((line) => logger?.fatal(line));
  const pool = createPool(
    url,
    application,
    config.databasePoolSize,
    logWatch.onConnect,
    statementMs,
  );
  const readPools = config.databaseReadUrl
    ? addressesOf(config.databaseReadUrl).map((address) =>
        createPool(address, application, config.databasePoolSize),
      )
    : [];
  const readPool = readPools[0] ?? publicReads(pool);
  const usable = leadsThroughPooler(pool)
    .then((pooled) => (pooled ? requirePreparedStatements(url) : undefined))
    .then(() => requireFinishedRestore((text) => pool.query(text)))
    .then(() => requireSandboxMark((text) => pool.query(text), config.sandbox))
    .then(() => requireKeys(pool, keys))
    .then(() => requireSameKeys(pool, keys))
    .then(() => readEngine(pool));
  const engine = await usable.catch(async (error: unknown) => {
    await pool.end();
    throw lacksTable(error)
      ? new Error('The database is not set up: npm run release does that', { cause: error })
      : error;
  });
  const replicas =
    readPools.length > 0 ? watchReplicas(readPools, pool, config.replicaMaxLagSeconds) : undefined;
  const addressName = directUrl === url ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  const jobs = jobSender(directUrl, jobTypes);
  const [warnings] = await Promise.all([
    logger ? startWarnings(directUrl === url ? pool : directUrl, addressName) : [],
    // A process that serves is ready for its first job; most commands send none.
    logger ? jobs.start() : undefined,
  ]);
  for (const text of warnings) logger?.warn(text);
  const wakeUps = createNotifications(directUrl, application);
  const simple = createEventStore({
    pool,
    url,
    catalogue,
    project: projectorFor(engine),
    affectedMembers,
    mayOwn,
    enqueue: jobs.enqueue,
    isLogLost: logWatch.isLost,
    engine,
    committed: (events, queued) => {
      logWatch.acknowledged(events, engine);
      wakeUps.wake([
        ...events.flatMap(affectedMembers),
        ...(events.some(isReview) ? [MODERATION_TOPIC] : []),
        ...queued.filter(({ startAfter }) => !startAfter).map(({ queue }) => jobsTopic(queue)),
      ]);
    },
  });

  const grouped = config.groupCommit ? withGroupCommit(simple, engine) : simple;
  const store = withTraces(jobs.startingLate(grouped));

  // An epoch that begins ends the loss; until then, commands fail before they ask.
  const recheck = setInterval(() => {
    if (logWatch.isLost()) logWatch.check(pool).catch(() => undefined);
  }, RECHECK_MS).unref();

  async function close(): Promise<void> {
    clearInterval(recheck);
    replicas?.stop();
    await jobs.close();
    await wakeUps.close();
    await pool.end();
    for (const each of readPools) await each.end();
  }

  const pools = {
    write: pool,
    ...Object.fromEntries(
      readPools.map((each, index) => [index ? `read-${index + 1}` : 'read', each]),
    ),
  };
  return { config, keys, engine, pool, readPool, replicas, pools, store, logWatch, wakeUps, close };
}

const lacksTable = (error: unknown) => (error as { code?: unknown }).code === '42P01';

/**
 * Faults around a process that do not keep it from serving, one sentence each: a pooler at the direct address,
 * which is that of the setting `name`, through which no notification arrives; and a clock that differs. None if
 * the database cannot be reached. docs/operating/doctor.md says more about both.
 */
async function startWarnings(direct: pg.Pool | string, name: string): Promise<string[]> {
  const check = async (client: pg.ClientBase) => {
    const ask = async <Row>({ text, values }: Sql<Row>) =>
      (await client.query(text, values)).rows as Row[];
    const pooled = await isPooled(client);
    const clocks = await compareClocks(ask);
    return [
      ...(pooled
        ? [
            `${name} leads through a pooler, which passes no notifications on: updates come up to two seconds late, and jobs need a direct connection: set DATABASE_DIRECT_URL to one`,
          ]
        : []),
      ...(clocks.differs ? [clocks.text] : []),
    ];
  };
  const checked =
    typeof direct === 'string'
      ? withConnection(
          { ...clientConfig(direct, 'service start'), query_timeout: WARNINGS_WITHIN_MS },
          check,
        )
      : withClient(direct, performance.now() + WARNINGS_WITHIN_MS, check);
  return checked.catch(() => []);
}
