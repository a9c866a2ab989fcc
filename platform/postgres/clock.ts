import { type Sql, sql } from '../sql.ts';

type Ask = <Row>(statement: Sql<Row>) => Promise<readonly Row[]>;

const SAMPLES = 3;
const MAX_DIFFERENCE_MS = 1000;

interface Sample {
  aheadMs: number;
  roundTripMs: number;
}

/**
 * Compares the database's clock, which decides on expiry, leases and retention, with that of this machine.
 * `differs` if they are more than a second apart.
 */
export async function compareClocks(ask: Ask): Promise<{ text: string; differs: boolean }> {
  const samples: Sample[] = [];
  for (let count = 0; count < SAMPLES; count++) samples.push(await sampleClock(ask));
  // The shortest round trip leaves the least room for an error.
  const [best] = samples.sort((a, b) => a.roundTripMs - b.roundTripMs);
  const { aheadMs, roundTripMs } = best as Sample;
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  return {
    text: `The database's clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} that of this machine`,
    differs: Math.abs(aheadMs) - roundTripMs / 2 >= MAX_DIFFERENCE_MS,
  };
}

async function sampleClock(ask: Ask): Promise<Sample> {
  const before = Date.now();
  const started = performance.now();
  const [row] = await ask(sql<{ ms: number }>`
    SELECT 1000 * extract(epoch FROM clock_timestamp())::float8 AS ms`);
  const roundTripMs = performance.now() - started;
  return { aheadMs: (row?.ms ?? 0) - before - roundTripMs / 2, roundTripMs };
}
