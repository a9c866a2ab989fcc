import { lineOf } from './commands/failure.ts';
import { takeNoArguments } from './commands/no-arguments.ts';
import { configOrExit } from './config.ts';
import { databaseUrl } from './embedded/postgres.ts';
import { migrate } from './migrate.ts';

takeNoArguments('npm run release');
const config = configOrExit();
try {
  const applied = await migrate(config.databaseDirectUrl ?? databaseUrl(config));
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
} catch (error) {
  process.stderr.write(lineOf(error));
  process.exitCode = 1;
}
