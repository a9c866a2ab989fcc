import { configOrExit } from '../config.ts';
import { databaseUrl } from '../embedded/postgres.ts';
import { firstUsed, otherSecrets } from '../keys/key-checks.ts';
import { keyRing, type Verifier } from '../keys/key-ring.ts';
import { keyUsage, USE_NAMES } from '../keys/key-usage.ts';
import { serverKeys } from '../keys/server-keys.ts';
import { withConnection } from '../postgres/connection.ts';
import { lineOf } from './failure.ts';

if (process.argv.slice(2).join(' ') !== 'status') {
  process.stderr.write('Usage:\n  npm run keys -- status\n');
  process.exit(1);
}

const config = configOrExit();
try {
  // Before the keys, which are made where there are none: this makes nothing.
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
  // Tab-separated, for people and for scripts.
  for (const row of [['key', 'state', ...USE_NAMES], ...rows])
    process.stdout.write(`${row.join('\t')}\n`);
} catch (error) {
  process.stderr.write(lineOf(error));
  process.exitCode = 1;
}
