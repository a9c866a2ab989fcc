import type pg from 'pg';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';
import { findDurabilityFaults } from '../platform/postgres/database-settings.ts';
import { readEngine } from '../platform/postgres/engine.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { distributeTables, findLayoutFaults, MAX_SHARDS, SHARDS } from './cluster.ts';
import { areGranted, DATABASE_ROLES, grantRoles } from './database-roles.ts';
import {
  analysePartitioned,
  MAX_PARTITIONS,
  MIN_PARTITIONS,
  OWNED_TABLES,
  PARTITIONS,
  partitionedTables,
  partitionTables,
} from './partitions.ts';
import { planRelease } from './release-plan.ts';
import { emptySandbox, markSandbox, requireSandboxOrEmpty } from './sandbox.ts';
import { NOT_EMPTIED_STATUS } from './sandbox-notice.ts';

const { values } = processArguments(
  `Usage:
  npm run release [-- --grant]
  npm run release -- --check
  npm run release -- --partition [--partitions N]
  npm run release -- --distribute [--shards N] [--one-node]

Applies the migrations that the database does not have yet. With --grant, also creates the roles service,
service_read and service_metrics, and grants them what they need; later releases do so without it.

With --check, says which migrations would be applied, what they lock and for how long, and changes nothing. The exit
status is 1 where a release would refuse.

With --partition, also divides the log, the receipts and the feeds by owner, into ${PARTITIONS} partitions each or N. Copies them, so stop
all processes of the service first, and have as much free disk as these tables take.

With --distribute, on the coordinator of a Citus cluster and as a superuser, distributes the same tables over its nodes, into ${SHARDS}
shards each or N. With --one-node, also while the coordinator is the only node. Stop all processes of the service first.

A sandbox that is due is emptied. If it cannot be, the exit status is 75: all else is done, and another release empties it.
`,
  {
    grant: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    partition: { type: 'boolean', default: false },
    partitions: { type: 'string', default: String(PARTITIONS) },
    distribute: { type: 'boolean', default: false },
    shards: { type: 'string', default: String(SHARDS) },
    'one-node': { type: 'boolean', default: false },
  },
  [0, 0],
  (parsed) => {
    const { check, grant, partition, partitions, distribute, shards } = parsed.values;
    if (check && (grant || partition || distribute))
      throw new ArgumentError('--check goes with no other option.');
    const [least, most] = [MIN_PARTITIONS, MAX_PARTITIONS];
    if (!/^\d{1,2}$/.test(partitions) || Number(partitions) < least || Number(partitions) > most)
      throw new ArgumentError(`--partitions takes a number from ${least} to ${most}.`);
    if (!partition && partitions !== String(PARTITIONS))
      throw new ArgumentError('--partitions needs --partition.');
    if (partition && distribute)
      throw new ArgumentError('--partition and --distribute exclude each other.');
    if (!/^\d{1,3}$/.test(shards) || Number(shards) < 1 || Number(shards) > MAX_SHARDS)
      throw new ArgumentError(`--shards takes a number from 1 to ${MAX_SHARDS}.`);
    if (!distribute && (shards !== String(SHARDS) || parsed.values['one-node']))
      throw new ArgumentError('--shards and --one-node need --distribute.');
  },
);
const parts = Number(values.partitions);
const config = configOrExit();
const tell = (line: string) => void process.stderr.write(`${line}\n`);
try {
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  if (values.check) {
    const lines = await withConnection(addressConfig(url, 'service release'), planRelease);
    console.log(lines.join('\n'));
  } else await release(url);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function release(url: string): Promise<void> {
  await withConnection(addressConfig(url, 'service release'), (client) =>
    requireSandboxOrEmpty((text) => client.query(text), config.sandbox),
  );
  const applied = await migrate(url, { tell });
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is current');
  await withConnection(addressConfig(url, 'service release'), async (client) => {
    await arrange(client);
    if (values.grant || (await areGranted(client))) {
      await grantRoles(client, { tell });
      console.log(`Granted the roles ${DATABASE_ROLES.join(', ')}`);
    }
    if (config.sandbox) await prepareSandbox(client);
    for (const { fault, command } of await findDurabilityFaults(client))
      process.stderr.write(`Warning: ${fault}: ${command}\n`);
  });
}

/** Partitions or distributes the tables if asked to, and collects the statistics of those that are. */
async function arrange(client: pg.Client): Promise<void> {
  if (values.distribute) {
    const done = await distributeTables(
      client,
      { shards: Number(values.shards), oneNode: values['one-node'] },
      tell,
    );
    const names = Object.keys(OWNED_TABLES).join(', ');
    console.log(
      done === 'distributed'
        ? `Distributed ${names} by owner, into ${values.shards} shards each`
        : 'The tables are distributed',
    );
    return;
  }
  if (values.partition) {
    const tables = await partitionTables(client, parts, tell);
    console.log(
      tables.length > 0
        ? `Divided ${tables.join(', ')} by owner, into ${parts} partitions each`
        : 'The tables are partitioned',
    );
    return;
  }
  const { distributed } = await readEngine(client);
  if (distributed)
    for (const { fault, command } of await findLayoutFaults(client))
      tell(`Warning: ${fault}: ${command}`);
  const partitioned = await partitionedTables(client);
  const plain = Object.keys(OWNED_TABLES).filter((name) => !partitioned.includes(name));
  if (partitioned.length > 0 && plain.length > 0)
    tell(
      `Warning: ${partitioned.join(', ')} are partitioned, and ${plain.join(', ')} not: npm run release -- --partition`,
    );
  await analysePartitioned(client, partitioned);
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
