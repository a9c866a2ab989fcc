import type pg from 'pg';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { firstUsed, otherSecrets } from '../platform/keys/key-checks.ts';
import { keyRing, type Verifier } from '../platform/keys/key-ring.ts';
import { formatServerKeys, type ServerKey, serverKeys } from '../platform/keys/server-keys.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';
import { keyUsage, USE_NAMES } from '../services/membership/key-usage.ts';
import {
  describeGivenUp,
  type GivenUpKey,
  givenUpKeys,
  giveUpKey,
  requireConfirmed,
  requireUnneeded,
  retired,
} from '../services/membership/retire-key.ts';

const USAGE = `Usage:
  npm run keys -- status
  npm run keys -- retire ID [--give-up [--yes COUNT]]

status prints how many members, moderators, credentials, handles, sessions and receipts need each server
key. retire prints SERVER_KEYS without an old key that is no longer needed. --give-up retires a key that
is still needed: those who did not sign in or recover since it was replaced cannot do so any more.
It shows what ends for good, and needs --yes with the number of it.
`;

const {
  positionals: [name, id],
  values,
} = processArguments(
  USAGE,
  { 'give-up': { type: 'boolean', default: false }, yes: { type: 'string' } },
  [1, 2],
  ({ positionals: [command, keyId], values: options }) => {
    if (command !== 'status' && command !== 'retire')
      throw new ArgumentError(`Unknown command '${command}'.`);
    if (command === 'status' && (keyId !== undefined || options['give-up']))
      throw new ArgumentError('status takes no arguments.');
    if (command === 'retire' && !/^[1-9]\d*$/.test(keyId ?? ''))
      throw new ArgumentError('retire needs the id of a server key.');
    if (options.yes !== undefined && (!options['give-up'] || !/^\d+$/.test(options.yes)))
      throw new ArgumentError('--yes needs --give-up and a number.');
  },
);

const config = configOrExit();
try {
  // Find the database first: without an instance this fails, before `serverKeys` creates a key.
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  const held = serverKeys(config);
  await withConnection(addressConfig(url, 'service keys'), (client) =>
    name === 'status' ? printStatus(client, held) : retire(client, held, Number(id)),
  );
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

/** Prints tab-separated lines, which both people and scripts can read. */
async function printStatus(client: pg.Client, held: readonly ServerKey[]): Promise<void> {
  const keys = keyRing(held);
  const usage = await keyUsage(client);
  const others = otherSecrets(keys, (await client.query<Verifier>(firstUsed())).rows);
  const stateOf = (key: number): string => {
    if (others.includes(key)) return 'ANOTHER SECRET';
    if (key === keys.ids[0]) return 'newest';
    if (keys.ids.includes(key)) return 'held';
    return keys.handleIds.includes(key) ? 'retired' : 'MISSING';
  };
  const rows = [...new Set([...keys.handleIds, ...usage.keys()])].map((key) => [
    key,
    stateOf(key),
    ...USE_NAMES.map((use) => usage.get(key)?.[use] ?? 0),
  ]);
  for (const row of [['key', 'state', ...USE_NAMES], ...rows])
    process.stdout.write(`${row.join('\t')}\n`);
  const { rows: givenUp } = await client.query<GivenUpKey>(givenUpKeys());
  for (const key of givenUp) process.stderr.write(`${describeGivenUp(key)}\n`);
}

/** Prints the keys to configure from now on. Only they go to stdout, since they are secret. */
async function retire(client: pg.Client, held: readonly ServerKey[], key: number): Promise<void> {
  const left = retired(held, key);
  const uses = (await keyUsage(client)).get(key) ?? {};
  if (values['give-up']) {
    requireConfirmed(key, uses, values.yes === undefined ? undefined : Number(values.yes));
    await giveUpKey(client, key, uses);
  } else {
    requireUnneeded(key, uses);
  }
  process.stderr.write(
    `Set SERVER_KEYS to the next line and restart every process. Key ${key} is then gone` +
      `${uses.handles ? ', except for what recognizes taken handles' : ''}.\n`,
  );
  process.stdout.write(`${formatServerKeys(uses.handles ? left.withHandles : left.without)}\n`);
}
