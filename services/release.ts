import type pg from 'pg';
import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';
import { findDurabilityFaults } from '../platform/postgres/database-settings.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { areGranted, DATABASE_ROLES, grantRoles } from './database-roles.ts';
import { emptySandbox, markSandbox, requireSandboxOrEmpty } from './sandbox.ts';
import { NOT_EMPTIED_STATUS } from './sandbox-notice.ts';

const { values } = processArguments(
  `Usage:
  npm run release [-- --grant]

Applies the migrations that the database does not have yet. With --grant, also creates the roles service,
service_read and service_metrics, and grants them what they need; later releases do so without it.

A sandbox that is due is emptied. If it cannot be, the exit status is 75: all else is done, and another release empties it.
`,
  { grant: { type: 'boolean', default: false } },
);
const config = configOrExit();
const tell = (line: string) => void process.stderr.write(`${line}\n`);
try {
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  await withConnection(addressConfig(url, 'service release'), (client) =>
    requireSandboxOrEmpty((text) => client.query(text), config.sandbox),
  );
  const applied = await migrate(url, { tell });
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
  await withConnection(addressConfig(url, 'service release'), async (client) => {
    if (values.grant || (await areGranted(client))) {
      await grantRoles(client, { tell });
      console.log(`Granted the roles ${DATABASE_ROLES.join(', ')}`);
    }
    if (config.sandbox) await prepareSandbox(client);
    for (const { fault, command } of await findDurabilityFaults(client))
      process.stderr.write(`Warning: ${fault}: ${command}\n`);
  });
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function prepareSandbox(client: pg.ClientBase): Promise<void> {
  await markSandbox(client);
  const emptying = await emptySandbox(client, config.sandboxEmptiedAt);
  if (emptying.state === 'emptied')
    console.log(`Emptied the sandbox; epoch ${emptying.epoch.epoch} of the log has begun`);
  if (emptying.state === 'connected' || emptying.state === 'locked')
    process.exitCode = NOT_EMPTIED_STATUS;
  if (emptying.state === 'connected')
    tell(
      `Warning: the sandbox is due to be emptied, but ${emptying.processes.join(', ')} connected: stop all processes, and run npm run release again`,
    );
  if (emptying.state === 'locked')
    tell(
      'Warning: the sandbox is due to be emptied, but another transaction, such as that of a backup, uses its tables: run npm run release again when it has ended',
    );
}
