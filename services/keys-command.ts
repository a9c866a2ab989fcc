import { configOrExit } from './config.ts';
import { databaseUrl } from './embedded/postgres.ts';
import { keyUsage, USE_NAMES } from './key-usage.ts';
import { keyRing } from './keys.ts';
import { serverKeys } from './server-keys.ts';

if (process.argv.slice(2).join(' ') !== 'status') {
  process.stderr.write('Usage:\n  npm run keys -- status\n');
  process.exit(1);
}

const config = configOrExit();
try {
  const { ids } = keyRing(serverKeys(config));
  const usage = await keyUsage({
    connectionString: config.databaseDirectUrl ?? databaseUrl(config),
    application_name: 'service keys',
  });
  const rows = [...new Set([...ids, ...usage.keys()])].map((id) => {
    const uses = USE_NAMES.map((use) => usage.get(id)?.[use] ?? 0);
    const held = ids.includes(id) ? 'held' : 'MISSING';
    return [id, id === ids[0] ? 'newest' : held, ...uses];
  });
  // Tab-separated, for people and for scripts.
  for (const row of [['key', 'state', ...USE_NAMES], ...rows])
    process.stdout.write(`${row.join('\t')}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
