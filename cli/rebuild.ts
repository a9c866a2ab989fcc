import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { rebuild } from '../projections/rebuild/rebuild.ts';

processArguments(`Usage:
  npm run rebuild

Builds every read model anew from the log.
`);
const config = configOrExit();
const started = Date.now();
const seconds = () => (Date.now() - started) / 1000;
let shown = 0;
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => interruption.abort(new Error(`Ended by ${signal}`)));

try {
  const { catalogue, projections } = await import('../services/features.ts');
  const url = config.databaseDirectUrl ?? databaseUrl(config);
  const progress = (position: number, last: number) => {
    if (seconds() < shown + 1 && position < last) return;
    shown = seconds();
    const rest = (shown * (last - position)) / position;
    const part = Math.floor((100 * position) / last);
    process.stderr.write(`${part} %, position ${position} of ${last}, ${rest.toFixed(0)} s left\n`);
  };
  const waits = (pids: readonly number[]) =>
    process.stderr.write(`Waits for a lock that others hold: process ${pids.join(', ')}\n`);
  const { events, kept } = await rebuild(url, catalogue, projections, {
    progress,
    waits,
    interrupted: interruption.signal,
    tell: (line) => void process.stderr.write(`${line}\n`),
  });
  process.stdout.write(
    `Rebuilt every read model from ${events} events in ${seconds().toFixed(1)} s\n`,
  );
  for (const owner of kept)
    process.stdout.write(`The log has lost the words of ${owner}; they are kept as they were\n`);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
