import { sql } from '../../platform/sql.ts';
import type { Context } from './connection.ts';
import { type Finding, ok, warn } from './finding.ts';

const SAMPLES = 3;
const MAX_DIFFERENCE_MS = 1000;

interface Sample {
  aheadMs: number;
  roundTripMs: number;
}

/** Compares the database's clock, which decides on leases and retention, with that of this machine. */
export async function checkClock({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const samples: Sample[] = [];
  for (let count = 0; count < SAMPLES; count++) samples.push(await sampleClock(ask));
  // The shortest round trip leaves the least room for an error.
  const [best] = samples.sort((a, b) => a.roundTripMs - b.roundTripMs);
  const aheadMs = best?.aheadMs ?? 0;
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  const text = `The database's clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} that of this machine`;
  return Math.abs(aheadMs) < MAX_DIFFERENCE_MS
    ? [ok(text)]
    : [warn(`${text}; on the one that is wrong`, 'timedatectl set-ntp true')];
}

async function sampleClock(ask: Context['ask']): Promise<Sample> {
  const before = Date.now();
  const started = performance.now();
  const [row] = await ask(sql<{ ms: number }>`
    SELECT 1000 * extract(epoch FROM clock_timestamp())::float8 AS ms`);
  const roundTripMs = performance.now() - started;
  return { aheadMs: (row?.ms ?? 0) - before - roundTripMs / 2, roundTripMs };
}
