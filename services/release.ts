import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { findDurabilityFaults } from '../platform/postgres/database-settings.ts';
import { migrate } from '../platform/postgres/migrate.ts';

processArguments(`Usage:
  npm run release

Applies the migrations that the database does not have yet.
`);
const config = configOrExit();
try {
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  const applied = await migrate(url);
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
  for (const { fault, command } of await withConnection(url, findDurabilityFaults))
    process.stderr.write(`Warning: ${fault}: ${command}\n`);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
