import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import { beginEpochOfLog, describeEpoch, refuseWhileConnected } from './backup/begin-epoch.ts';
import { withDatabase } from './backup/database.ts';

const { values } = processArguments(
  `Usage:
  npm run restored [-- --reason TEXT]

Says that the end of the log is lost: after a backup was restored by other means than npm run restore, or
after a failover that lost commits. Stop all processes first. Clients are then told where to continue.
`,
  { reason: { type: 'string', default: 'restored' } },
);
const config = configOrExit();
try {
  const begun = await withDatabase(config, (url) =>
    withConnection(clientConfig(url, 'service restored'), async (client) => {
      await refuseWhileConnected(client);
      await client.query('BEGIN');
      const epoch = await beginEpochOfLog(client, values.reason);
      await client.query('COMMIT');
      return epoch;
    }),
  );
  process.stdout.write(describeEpoch(begun));
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
