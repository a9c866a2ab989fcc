import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { migrate } from '../platform/postgres/migrate.ts';

processArguments(`Usage:
  npm run release

Applies the migrations that the database does not have yet.
`);
const config = configOrExit();
try {
  const applied = await migrate(config.databaseDirectUrl ?? databaseUrl(config));
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
