import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { jobSender } from '../../platform/jobs/boss.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { DATABASE_ROLES, grantRoles } from '../../services/database-roles.ts';
import { PARTITIONS, partitionTables } from '../../services/partitions.ts';
import { TEMPLATE } from './database.ts';
import { imitateCluster } from './imitated-cluster.ts';

// Starts one server for the suite, or uses the one of TEST_DATABASE_URL, as for an older version.
export async function startSuiteDatabase(given: string | undefined) {
  if (given) {
    await createTemplate(given);
    return { url: given, stop: async () => undefined };
  }
  const { path, remove } = temporaryFolder('test-postgres', inMemory());
  try {
    const server = await embeddedPostgres({
      dataDir: join(path, 'data'),
      // Test data need not survive a power failure.
      settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', ...sizes },
    });
    const home = realpathSync(join(path, 'data', 'postgres'));
    const stop = async () => {
      await server.stop();
      rmSync(home, { recursive: true });
      remove();
    };
    await setPassword(server.url)
      .then(() => createTemplate(server.url))
      .catch(async (error) => {
        await stop();
        throw error;
      });
    return { url: server.url, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

const sizes = {
  max_connections: 200,
  max_wal_size: '512MB',
  autovacuum_naptime: '1h',
  // Each test opens connections to a new database, and the slow hashing of passwords protects nothing.
  scram_iterations: 1,
};

/** Hashes the password again, with the number of iterations in the settings. */
async function setPassword(url: string): Promise<void> {
  const { username, password } = new URL(url);
  await withConnection(url, (admin) =>
    admin.query(`ALTER ROLE ${username} PASSWORD '${password}'`),
  );
}

async function createTemplate(url: string): Promise<void> {
  await withConnection(url, async (admin) => {
    await admin.query(`UPDATE pg_database SET datistemplate = false WHERE datname = '${TEMPLATE}'`);
    await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${TEMPLATE}`);
    const template = new URL(url);
    template.pathname = `/${TEMPLATE}`;
    await migrate(template.href);
    await createQueues(template.href);
    await withConnection(template.href, async (client) => {
      if (process.env.TEST_LAYOUT === 'partitions') await partitionTables(client, PARTITIONS);
      if (process.env.TEST_LAYOUT === 'cluster') await imitateCluster(client);
      await grantRoles(client);
      for (const role of DATABASE_ROLES)
        await client.query(`ALTER ROLE ${role} PASSWORD '${role}'`);
    });
    // A connection to the template would make every copy fail.
    await admin.query(`ALTER DATABASE ${TEMPLATE} IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  });
}

/** Creates the queues, which cost each service some 45 round trips otherwise. */
async function createQueues(url: string): Promise<void> {
  // Not before a run that needs a database: the import takes as long as some unit tests.
  const { jobTypes } = await import('../../services/features.ts');
  const { start, close } = jobSender(url, jobTypes);
  await start();
  await close();
}
