import { rebuild } from '../projections/rebuild.ts';
import { catalogue, projections } from '../projections/registry.ts';
import { configOrExit } from './config.ts';
import { databaseUrl } from './embedded/postgres.ts';

const config = configOrExit();
const url = config.databaseDirectUrl ?? databaseUrl(config);
const started = Date.now();
const { events } = await rebuild(url, catalogue, projections, (position, last) => {
  process.stderr.write(`position ${position} of ${last}\n`);
});
process.stdout.write(
  `Rebuilt every read model from ${events} events in ${((Date.now() - started) / 1000).toFixed(1)} s\n`,
);
