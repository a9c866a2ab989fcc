import type pg from 'pg';
import { median } from './pair.ts';

/** A quantity that is sampled repeatedly, and how much of its growth is noise. */
interface Measure {
  name: string;
  unit: string;
  /** Growth over the measured period up to this share of the mean, or up to `least`, is noise. */
  noise: number;
  least: number;
  /** Grows by design: reported, never a failure. */
  kept?: true;
  /** Varies with garbage collection: only the minimum of each part of the period counts. */
  swings?: true;
}

const PARTS = 8;

const MEASURES = {
  'web resident': { unit: 'MiB', noise: 0.15, least: 15, swings: true },
  'web heap': { unit: 'MiB', noise: 0.15, least: 10, swings: true },
  'worker resident': { unit: 'MiB', noise: 0.15, least: 15, swings: true },
  'worker heap': { unit: 'MiB', noise: 0.15, least: 10, swings: true },
  connections: { unit: '', noise: 0.2, least: 3 },
  'dead rows, of all': { unit: '%', noise: 0.5, least: 10 },
  'rate_counters rows': { unit: '', noise: 0.5, least: 200 },
  'note_leases rows': { unit: '', noise: 0.5, least: 30 },
  'jobs that wait': { unit: '', noise: 0.5, least: 100 },
  'jobs kept': { unit: '', noise: 0, least: 0, kept: true },
  receipts: { unit: 'MiB', noise: 0, least: 0, kept: true },
  events: { unit: 'MiB', noise: 0, least: 0, kept: true },
} as const satisfies Record<string, Omit<Measure, 'name'>>;
type Name = keyof typeof MEASURES;

export type Series = Record<Name, { at: number; value: number }[]>;

export const newSeries = (): Series =>
  Object.fromEntries(Object.keys(MEASURES).map((name) => [name, []])) as unknown as Series;

const COUNTS = `SELECT
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
  (SELECT 100.0 * sum(n_dead_tup) / greatest(1, sum(n_dead_tup + n_live_tup))
    FROM pg_stat_user_tables) AS "dead rows, of all",
  (SELECT count(*) FROM rate_counters) AS "rate_counters rows",
  (SELECT count(*) FROM note_leases) AS "note_leases rows",
  (SELECT count(*) FROM pgboss.job WHERE state IN ('created', 'retry', 'active'))
    AS "jobs that wait",
  (SELECT count(*) FROM pgboss.job) AS "jobs kept",
  pg_total_relation_size('receipts') / 1048576.0 AS receipts,
  pg_total_relation_size('events') / 1048576.0 AS events`;

/** Adds one sample of each measure; memory comes from the processes' metrics endpoints. */
export async function sample(
  series: Series,
  client: pg.Client,
  metrics: Readonly<Record<'web' | 'worker', string>>,
): Promise<void> {
  const at = Date.now();
  const add = (name: Name, value: number) => series[name].push({ at, value });
  for (const process of ['web', 'worker'] as const) {
    const text = await (await fetch(`http://127.0.0.1:${metrics[process]}/metrics`)).text();
    const mebibytes = (metric: string) =>
      Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]) / 1_048_576;
    add(`${process} resident`, mebibytes('process_resident_memory_bytes'));
    add(`${process} heap`, mebibytes('nodejs_heap_size_used_bytes'));
  }
  const { rows } = await client.query<Record<Name, string>>(COUNTS);
  for (const [name, value] of Object.entries(rows[0] ?? {})) add(name as Name, Number(value));
}

function leastOf(seen: Series[Name]): Series[Name] {
  const size = Math.max(1, Math.ceil(seen.length / PARTS));
  const parts = Array.from({ length: Math.ceil(seen.length / size) }, (_, part) =>
    seen.slice(part * size, (part + 1) * size),
  );
  return parts.flatMap((part) => part.toSorted((a, b) => a.value - b.value).slice(0, 1));
}

/**
 * Estimates each measure's slope over the last two thirds of the samples, after warm-up, as the
 * median of the slopes of all pairs (Theil–Sen), which is robust against bursts.
 */
export function judge(series: Series): { lines: string[]; grown: string[] } {
  const lines: string[] = [];
  const grown: string[] = [];
  for (const [name, measure] of Object.entries(MEASURES) as [Name, Omit<Measure, 'name'>][]) {
    const late = series[name].slice(Math.floor(series[name].length / 3));
    const seen = measure.swings ? leastOf(late) : late;
    const slopes = seen.flatMap(({ at, value }, index) =>
      seen.slice(index + 1).map((later) => (later.value - value) / (later.at - at)),
    );
    const [first, last] = [seen[0], seen.at(-1)];
    if (!first || !last || slopes.length === 0) throw new Error('too short to tell anything');
    const slope = median(slopes);
    const growth = slope * (last.at - first.at);
    const mean = seen.reduce((sum, { value }) => sum + value, 0) / seen.length;
    const grew = !measure.kept && growth > Math.max(measure.least, measure.noise * mean);
    const unit = measure.unit && ` ${measure.unit}`;
    const sign = slope < 0 ? '' : '+';
    lines.push(
      `${name.padEnd(20)} ${first.value.toFixed(1)} → ${last.value.toFixed(1)}${unit}, ` +
        `slope ${sign}${(slope * 3_600_000).toFixed(1)}${unit} an hour${measure.kept ? ' (kept by design)' : ''}`,
    );
    if (grew) grown.push(`${name} by ${growth.toFixed(1)}${unit}`);
  }
  return { lines, grown };
}
