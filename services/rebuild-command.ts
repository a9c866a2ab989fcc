import { rebuild } from '../projections/rebuild.ts';
import { catalogue, projections } from '../projections/registry.ts';
import { configOrExit } from './config.ts';
import { databaseUrl } from './embedded/postgres.ts';
import { openPool } from './postgres.ts';

const config = configOrExit();
const pool = openPool(config.databaseDirectUrl ?? databaseUrl(config), 'service rebuild', 2);
const started = Date.now();
const { events } = await rebuild(pool, catalogue, projections, (position, last) => {
  process.stderr.write(`position ${position} of ${last}\n`);
});
process.stdout.write(
  `Rebuilt every read model from ${events} events in ${((Date.now() - started) / 1000).toFixed(1)} s\n`,
);
await pool.end();
