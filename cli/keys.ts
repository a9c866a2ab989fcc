import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { firstUsed, otherSecrets } from '../platform/keys/key-checks.ts';
import { keyRing, type Verifier } from '../platform/keys/key-ring.ts';
import { serverKeys } from '../platform/keys/server-keys.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { keyUsage, USE_NAMES } from '../services/membership/key-usage.ts';

const USAGE = `Usage:
  npm run keys -- status

status prints how many verifiers, handles, sessions and keyed hashes need each server key.
`;

processArguments(USAGE, {}, [1, 1], ({ positionals: [name] }) => {
  if (name !== 'status') throw new ArgumentError(`Unknown command '${name}'.`);
});

const config = configOrExit();
try {
  // Find the database first: without an instance this fails, before `serverKeys` creates a key.
  const connectionString = config.databaseDirectUrl ?? databaseUrl(config);
  const keys = keyRing(serverKeys(config));
  const { ids } = keys;
  const { usage, used } = await withConnection(
    { connectionString, application_name: 'service keys' },
    async (client) => ({
      usage: await keyUsage(client),
      used: (await client.query<Verifier>(firstUsed())).rows,
    }),
  );
  const others = otherSecrets(keys, used);
  const rows = [...new Set([...ids, ...usage.keys()])].map((id) => {
    const uses = USE_NAMES.map((use) => usage.get(id)?.[use] ?? 0);
    const held = ids.includes(id) ? 'held' : 'MISSING';
    const state = others.includes(id) ? 'ANOTHER SECRET' : held;
    return [id, id === ids[0] && state === 'held' ? 'newest' : state, ...uses];
  });
  // Tab-separated, so that both people and scripts can read the lines.
  for (const row of [['key', 'state', ...USE_NAMES], ...rows])
    process.stdout.write(`${row.join('\t')}\n`);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
