import { validate as isUuid } from 'uuid';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { type DeadLetter, deadLetters, runAgain } from '../platform/jobs/dead-letters.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';

const USAGE = `Usage:
  npm run dead-letters -- list
  npm run dead-letters -- again [id…]

list prints the jobs that failed for the last time, again gives these or all back to their queues.
`;

const {
  positionals: [command, ...ids],
} = processArguments(USAGE, {}, [1, Infinity], ({ positionals: [name, ...more] }) => {
  if (name !== 'list' && name !== 'again') throw new ArgumentError(`Unknown command '${name}'.`);
  if (name === 'list' && more.length > 0) throw new ArgumentError('list takes no arguments.');
  const other = more.find((id) => !isUuid(id));
  if (other !== undefined)
    throw new ArgumentError(`again takes ids that list prints, and '${other}' is not one.`);
});

const config = configOrExit();
try {
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  if (command === 'again') {
    const moved = await runAgain(url, ids);
    process.stdout.write(`Gave ${moved} back to the queues that they came from\n`);
  } else {
    const { rows } = await withConnection(addressConfig(url, 'service dead-letters'), (client) =>
      client.query<DeadLetter>(deadLetters()),
    );
    // Tab-separated, so that both people and scripts can read the lines.
    for (const { id, queue, failed_at, error, data } of rows) {
      const line = [id, queue, failed_at.toISOString(), error ?? '', JSON.stringify(data)];
      process.stdout.write(`${line.join('\t')}\n`);
    }
  }
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
