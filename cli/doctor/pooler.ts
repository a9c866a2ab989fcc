import { PLANNER_SETTINGS } from '../../platform/postgres/connection.ts';
import { isPooled, requirePreparedStatements } from '../../platform/postgres/pooler.ts';
import { sql } from '../../platform/sql.ts';
import { type Ask, bad, type Context, connectTo, type Finding, ok, orOk, warn } from './check.ts';

const SAMPLES = 20;
const EXPORT_DIRECT = 'export DATABASE_DIRECT_URL=postgres://user:password@host:port/database';

/** Checks a pooler between the service and PostgreSQL, and the direct connection beside it. */
export async function checkPooler({ client, ask, url, directUrl }: Context): Promise<Finding[]> {
  const pooled = await isPooled(client);
  if (!pooled && url === directUrl) return [ok('DATABASE_URL is a direct connection')];
  const direct = url === directUrl ? undefined : await directFinding(ask, directUrl);
  if (!pooled) return orOk([direct], 'DATABASE_URL and DATABASE_DIRECT_URL are direct connections');
  const unprepared = await requirePreparedStatements(url).then(
    () => undefined,
    (error: Error): Finding => ({ level: 'bad', text: error.message }),
  );
  const lacking = await countLackingSettings(url);
  return orOk(
    [
      url === directUrl &&
        bad(
          'DATABASE_URL leads through a pooler, but migrations, jobs and notifications need a direct connection',
          EXPORT_DIRECT,
        ),
      direct,
      unprepared,
      lacking > 0 &&
        warn(
          `${lacking} of ${SAMPLES} connections of the pooler lack the planner settings`,
          'npm run release, then RECONNECT in the console of PgBouncer',
        ),
    ],
    'The pooler keeps prepared statements and settings, and DATABASE_DIRECT_URL is direct',
  );
}

const IDENTITY = sql<{ identity: string }>`
  SELECT (pg_control_system()).system_identifier || ' ' || current_database() AS identity`;

async function directFinding(ask: Ask, directUrl: string): Promise<Finding | undefined> {
  const [expected] = await ask(IDENTITY);
  return connectTo(directUrl, async (client, askDirectly) => {
    if (await isPooled(client))
      return bad('DATABASE_DIRECT_URL leads through a pooler', EXPORT_DIRECT);
    const [found] = await askDirectly(IDENTITY);
    return found?.identity === expected?.identity
      ? undefined
      : bad('DATABASE_DIRECT_URL leads to another database than DATABASE_URL', EXPORT_DIRECT);
  });
}

/** Settings that neither the role nor a session has; a role may have others, which stay. */
const LACKING = {
  text: `SELECT FROM pg_settings
    JOIN (VALUES ${Object.entries(PLANNER_SETTINGS)
      .map(([name, value]) => `('${name}', '${value}')`)
      .join(', ')}) AS wanted (name, value) USING (name)
    WHERE setting <> value AND source NOT IN ('user', 'database', 'database user') LIMIT 1`,
};

async function countLackingSettings(url: string): Promise<number> {
  const found = await Promise.all(
    Array.from({ length: SAMPLES }, () =>
      connectTo(url, async (client) => (await client.query(LACKING)).rowCount ?? 0),
    ),
  );
  return found.reduce((sum, count) => sum + count, 0);
}
