import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { type ApiResponse, type CallOptions, createApi } from '../../harness/api.ts';
import { assertRebuilt } from '../../harness/rebuilt.ts';
import { readConfig } from '../../platform/config.ts';
import type { Routes } from '../../platform/http/route.ts';
import { createHttpServer } from '../../platform/http/server.ts';
import { LOG_FORMAT } from '../../platform/telemetry/logger.ts';
import { createApp } from '../../services/app.ts';
import { createCore } from '../../services/compose.ts';
import { strictOpenApiDocument } from '../../services/documents/openapi.ts';
import { asRole, testDatabase } from './database.ts';
import { createResponseCheck } from './documented.ts';

type Ending = Parameters<typeof testDatabase>[0];

export type Service = Awaited<ReturnType<typeof startService>>;

type ResponseCheck = ReturnType<typeof createResponseCheck>;

/**
 * Shared by all test files of a process, by the ids of the operations, which have the same contracts with any settings:
 * making the document takes a fifth of a second, and compiling its schemas seconds.
 */
const checks = new Map<string, ResponseCheck>();

function responseCheck(routes: readonly Routes[]): ResponseCheck {
  const ids = routes.flatMap(({ contract }) => Object.keys(contract)).join();
  const check =
    checks.get(ids) ?? createResponseCheck(strictOpenApiDocument(routes, 'http://localhost'));
  checks.set(ids, check);
  return check;
}

/** A test that reaches a limit takes less time than this, also on a busy machine. */
const MIN_WINDOW_SECONDS = 40;
const MAX_LOW_LIMIT = 100;

const setsLowLimit = (settings: Record<string, string>): boolean =>
  Object.entries(settings).some(
    ([name, value]) => name.startsWith('LIMIT_') && Number(value) < MAX_LOW_LIMIT,
  );

/**
 * Limits count in fixed windows, by the database's clock, and all windows end at a multiple of ten
 * minutes. Waits for the next window if this one ends soon: a test would find its counters at zero.
 */
export const untilWindowLasts = (pool: pg.Pool): Promise<void> => untilLasts(pool, 600);

/** Many tests write twice on one UTC day: the use of a credential, or against a limit of a day. */
const untilDayLasts = (pool: pg.Pool): Promise<void> => untilLasts(pool, 86_400);

async function untilLasts(pool: pg.Pool, seconds: number): Promise<void> {
  const { rows } = await pool.query<{ left: string }>(
    'SELECT $1 - extract(epoch FROM clock_timestamp()) % $1 AS left',
    [seconds],
  );
  const left = Number(rows[0]?.left);
  if (left < MIN_WINDOW_SECONDS) await sleep(1000 * left + 100);
}

/**
 * Starts the whole API in this process, on a new database and a free loopback port. Checks every
 * response against the OpenAPI document, and at the end of the test every read model against its
 * rebuild from the log. `shared` is the database of another service, which ends first. The setting `TEST_HOST` is
 * the name in its address: passkeys need `localhost`.
 */
export async function startService(
  t: Ending,
  { TEST_HOST = '127.0.0.1', ...settings }: Record<string, string> = {},
  shared?: Awaited<ReturnType<typeof testDatabase>>,
) {
  const database = shared ?? (await testDatabase(t));
  await (setsLowLimit(settings) ? untilWindowLasts : untilDayLasts)(database.pool);
  const server = createHttpServer((req, res) => void app(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://${TEST_HOST}:${(server.address() as AddressInfo).port}`;
  const config = readConfig({
    DATABASE_URL:
      process.env.TEST_ROLE === 'service' ? asRole(database.url, 'service') : database.url,
    BASE_URL: baseUrl,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    LIMIT_KEY_ATTEMPTS: '1000',
    LIMIT_REGISTRATIONS_PER_DAY: '1000',
    LIMIT_NOTES_PER_TEN_MINUTES: '1000',
    LIMIT_NOTES_PER_DAY: '1000',
    ...(process.env.GROUP_COMMIT ? { GROUP_COMMIT: process.env.GROUP_COMMIT } : {}),
    ...settings,
  });
  const logged: string[] = [];
  const logger = pino(
    { ...LOG_FORMAT, level: 'debug' },
    { write: (line: string) => void logged.push(line) },
  );
  const core = await createCore(config, 'service test', logger);
  const { app, routes, operations, stop } = await createApp(core, logger);
  const check = responseCheck(routes);
  t.teardown(async () => {
    stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await core.close();
    if (!tampered) await assertRebuilt(database.pool);
  });

  let tampered = false;

  /** Changes a read model without events, to simulate passing time; skips the rebuild check. */
  async function tamper(statement: string, values: unknown[] = []): Promise<void> {
    tampered = true;
    await database.pool.query(statement, values);
  }

  const api = createApi(baseUrl);

  async function call(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<ApiResponse> {
    const answer = await api.call(method, path, options);
    const { status, headers, text } = answer;
    check({ method, path, status, headers, text });
    return answer;
  }

  return { call, tamper, routes, operations, baseUrl, database, core, logger, logged };
}
