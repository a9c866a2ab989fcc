import type pg from 'pg';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { continueEpoch } from '../platform/eventstore/log-epochs.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import { beginEpochOfLog, describeEpoch, refuseWhileConnected } from './backup/begin-epoch.ts';
import { withDatabase } from './backup/database.ts';

const { values } = processArguments(
  `Usage:
  npm run restored [-- --reason TEXT]
  npm run restored -- --nothing-lost

Says that the end of the log is lost: after a backup was restored by other means than npm run restore, or
after a failover that lost commits. Stop all processes first. Clients are then told where to continue.
With --nothing-lost, says that the log is complete on another server, as after a failover to a synchronous
standby or an upgrade of PostgreSQL.
`,
  { reason: { type: 'string' }, 'nothing-lost': { type: 'boolean', default: false } },
  [0, 0],
  ({ values: { reason, 'nothing-lost': complete } }) => {
    if (complete && reason !== undefined)
      throw new ArgumentError('--nothing-lost takes no --reason.');
  },
);
const config = configOrExit();
try {
  const done = await withDatabase(config, (url) =>
    withConnection(
      clientConfig(url, 'service restored'),
      values['nothing-lost'] ? continueLog : restartLog,
    ),
  );
  process.stdout.write(done);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function restartLog(client: pg.Client): Promise<string> {
  await refuseWhileConnected(client);
  await client.query('BEGIN');
  const begun = await beginEpochOfLog(client, values.reason ?? 'restored');
  await client.query('COMMIT');
  return describeEpoch(begun);
}

async function continueLog(client: pg.Client): Promise<string> {
  return `Epoch ${await continueEpoch(client)} of the log goes on, on this server.\n`;
}
