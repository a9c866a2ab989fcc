import { configOrExit } from '../platform/config.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import type { Difference } from '../projections/rebuild/compare-tables.ts';
import { mendReadModels } from '../projections/rebuild/mend.ts';
import { type Proof, type ProveOptions, proveReadModels } from '../projections/rebuild/prove.ts';
import { catalogue, projections } from '../services/features.ts';
import { recordProof } from '../services/proving/last-proof.ts';
import { withDatabase } from './backup/database.ts';

/** Compares every read model of the running instance with the log, and mends the rows that differ if `mend`. */
export async function verifyLive(mend: boolean): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => interruption.abort(new Error(`Ended by ${signal}`)));
  let shown = Date.now();
  const options = {
    progress(position: number, last: number) {
      if (Date.now() < shown + 1000) return;
      shown = Date.now();
      process.stderr.write(`Projected the log to position ${position} of ${last}\n`);
    },
    interrupted: interruption.signal,
    tell: (line: string) => void process.stderr.write(`${line}\n`),
  };
  const proof = await withDatabase(configOrExit(), async (url) => {
    const { comparedAt, proof } = mend
      ? await mendLive(url, options)
      : await compareLive(url, options);
    const { text, values } = recordProof(comparedAt, proof);
    await withConnection(clientConfig(url, 'service verify'), (client) =>
      client.query(text, values),
    );
    return proof;
  });
  process.stdout.write(`${summarize(proof)}\n`);
  if (proof.divergent > 0) process.exitCode = 1;
}

async function compareLive(url: string, options: ProveOptions) {
  const comparedAt = new Date();
  const found = (difference: Difference) => print(describe(difference));
  return {
    comparedAt,
    proof: await proveReadModels(url, catalogue, projections, { ...options, found }),
  };
}

async function mendLive(url: string, options: ProveOptions) {
  const { mended, mendedTables, ...compared } = await mendReadModels(url, catalogue, projections, {
    ...options,
    mended: (difference) => print(`${describe(difference)}: mended`),
    left: (difference) =>
      print(
        `${describe(difference)}: left as it is, because the deletion of an account has not ended`,
      ),
    waits: (pids) =>
      process.stderr.write(`Waits for a lock that others hold: process ${pids.join(', ')}\n`),
  });
  print(
    mended > 0
      ? `Mended ${mended} rows of ${mendedTables.join(', ')}, and compared again`
      : 'Mended no row',
  );
  return compared;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Names a row and its columns, and none of its values but the key. */
function describe({ table, key, kind, columns }: Difference): string {
  const row = Object.entries(key).map(([column, value]) => `${column}=${JSON.stringify(value)}`);
  const what = { missing: 'is missing', surplus: 'is not in the log', changed: 'differs' }[kind];
  return `${table} ${row.join(' ')} ${what}${kind === 'changed' ? ` in ${columns.join(', ')}` : ''}`;
}

function summarize({ events, rows, divergent, tables, ...times }: Proof): string {
  const took = `in ${times.seconds.toFixed(1)} s; the longest snapshot took ${times.longestSnapshotSeconds.toFixed(1)} s`;
  return divergent === 0
    ? `Proven: ${rows} rows of every read model equal ${events} events of the log, ${took}`
    : `${divergent} rows of ${tables.join(', ')} differ from the log (${events} events, ${took})`;
}
