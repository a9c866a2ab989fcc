import { configOrExit } from '../config.ts';
import { databaseUrl } from '../embedded/postgres.ts';
import { type DeadLetter, deadLetters, runAgain } from '../jobs/dead-letters.ts';
import { withConnection } from '../postgres/connection.ts';
import { lineOf } from './failure.ts';

const [command, ...ids] = process.argv.slice(2);
if (!(command === 'again' || (command === 'list' && ids.length === 0))) {
  process.stderr.write(
    'Usage:\n  npm run dead-letters -- list\n  npm run dead-letters -- again [id…]\n',
  );
  process.exit(1);
}

const config = configOrExit();
try {
  const connectionString = config.databaseDirectUrl ?? databaseUrl(config);
  if (command === 'again') {
    const moved = await runAgain(connectionString, ids);
    process.stdout.write(`Gave ${moved} back to the queues that they came from\n`);
  } else {
    const { rows } = await withConnection(
      { connectionString, application_name: 'service dead-letters' },
      (client) => client.query<DeadLetter>(deadLetters()),
    );
    // Tab-separated, for people and for scripts.
    for (const { id, queue, failed_at, error, data } of rows) {
      const line = [id, queue, failed_at.toISOString(), error ?? '', JSON.stringify(data)];
      process.stdout.write(`${line.join('\t')}\n`);
    }
  }
} catch (error) {
  process.stderr.write(lineOf(error));
  process.exitCode = 1;
}
