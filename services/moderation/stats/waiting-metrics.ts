import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { DEAD_LETTERS, waitingJobs } from '../../../platform/jobs/queues.ts';
import { query } from '../../../platform/postgres/query.ts';
import { scrapedGauges } from '../../../platform/telemetry/scraped-gauges.ts';
import type { DepthRow } from '../../../projections/moderation/review-stats.ts';
import { createDepthReader } from './queue-depth.ts';

interface Waiting {
  jobs: Readonly<Record<string, number>>;
  notes: number;
  oldest_seconds: number;
}

/**
 * Registers gauges of the jobs and notes that wait, read from the database once for each scrape.
 * The values are the same in every process, so a scrape of any process shows them. More than 1000 notes
 * are counted once a minute.
 */
export function waitingMetrics(registry: Registry, pool: pg.Pool): void {
  const readDepth = createDepthReader(pool);
  const { gauge, reading: waiting } = scrapedGauges(registry, () => readWaiting(pool, readDepth));

  gauge(
    'jobs_dead',
    'Jobs that failed for the last time; see `npm run dead-letters`',
    ({ jobs }) => {
      return jobs[DEAD_LETTERS] ?? 0;
    },
  );
  gauge('notes_pending', 'Notes that wait for a decision', ({ notes }) => notes);
  gauge(
    'notes_pending_oldest_seconds',
    'Age of the note that has waited longest; 0 if none waits',
    ({ oldest_seconds }) => oldest_seconds,
  );
  new Gauge({
    name: 'jobs_waiting',
    help: 'Jobs that are due and not started, by queue',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      const current = await waiting();
      this.reset();
      for (const [queue, jobs] of Object.entries(current?.jobs ?? {})) this.set({ queue }, jobs);
    },
  });
  new Gauge({
    name: 'database_up',
    help: '1 if the database answered; if 0, the metrics read from it are missing',
    registers: [registry],
    async collect() {
      this.set((await waiting()) ? 1 : 0);
    },
  });
}

async function readWaiting(
  pool: pg.Pool,
  readDepth: () => Promise<DepthRow>,
): Promise<Waiting | undefined> {
  try {
    const [jobs, depth] = await Promise.all([query(pool, waitingJobs()), readDepth()]);
    return {
      jobs: Object.fromEntries(jobs.map((row) => [row.queue, row.jobs])),
      notes: depth.pending,
      oldest_seconds: depth.oldest_seconds ?? 0,
    };
  } catch {
    return undefined;
  }
}
