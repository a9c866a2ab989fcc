import { processArguments } from './commands/arguments.ts';
import { lineOf } from './commands/failure.ts';
import { configOrExit } from './config.ts';
import { databaseUrl } from './embedded/postgres.ts';
import { migrate } from './migrate.ts';

processArguments(`Usage:
  npm run release

Applies the migrations that the database does not have yet.
`);
const config = configOrExit();
try {
  const applied = await migrate(config.databaseDirectUrl ?? databaseUrl(config));
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
} catch (error) {
  process.stderr.write(lineOf(error));
  process.exitCode = 1;
}
