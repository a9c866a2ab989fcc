import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';
import { findDurabilityFaults } from '../platform/postgres/database-settings.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { areGranted, DATABASE_ROLES, grantRoles } from './database-roles.ts';

const { values } = processArguments(
  `Usage:
  npm run release [-- --grant]

Applies the migrations that the database does not have yet. With --grant, also creates the roles service,
service_read and service_metrics, and grants them what they need; later releases do so without it.
`,
  { grant: { type: 'boolean', default: false } },
);
const config = configOrExit();
const tell = (line: string) => void process.stderr.write(`${line}\n`);
try {
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  const applied = await migrate(url, { tell });
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
  await withConnection(addressConfig(url, 'service release'), async (client) => {
    if (values.grant || (await areGranted(client))) {
      await grantRoles(client, { tell });
      console.log(`Granted the roles ${DATABASE_ROLES.join(', ')}`);
    }
    for (const { fault, command } of await findDurabilityFaults(client))
      process.stderr.write(`Warning: ${fault}: ${command}\n`);
  });
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
