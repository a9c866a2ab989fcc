import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { DEAD_LETTERS, QUEUE_NAMES, waitingJobs } from '../../../platform/jobs/queues.ts';
import { query } from '../../../platform/postgres/query.ts';
import { pendingTotals } from '../../../projections/guestbook/notes.ts';

interface Waiting {
  jobs: Readonly<Record<string, number>>;
  notes: number;
  oldest_seconds: number;
}

/**
 * Registers gauges of the jobs and notes that wait, read from the database once for each scrape.
 * The values are the same in every process, so a scrape of any process shows them.
 */
export function waitingMetrics(registry: Registry, pool: pg.Pool): void {
  let asked: Promise<Waiting | undefined> | undefined;
  const waiting = () => {
    asked ??= ask(pool).finally(() => {
      asked = undefined;
    });
    return asked;
  };

  function gauge(name: string, help: string, read: (waiting: Waiting) => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const found = await waiting();
        // Leave out an unknown figure, because 0 would be a false claim.
        if (found) this.set(read(found));
        else this.remove();
      },
    });
  }

  gauge('jobs_dead', 'Jobs that failed for the last time and wait for a person', ({ jobs }) => {
    return jobs[DEAD_LETTERS] ?? 0;
  });
  gauge('notes_pending', 'Notes that wait for a moderator', ({ notes }) => notes);
  gauge(
    'notes_pending_oldest_seconds',
    'Age of the note that has waited longest; 0 where none waits',
    ({ oldest_seconds }) => oldest_seconds,
  );
  new Gauge({
    name: 'jobs_waiting',
    help: 'Jobs that are due and not begun',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      const found = await waiting();
      this.reset();
      if (found) for (const queue of QUEUE_NAMES) this.set({ queue }, found.jobs[queue] ?? 0);
    },
  });
  new Gauge({
    name: 'database_up',
    help: '1 where the database answered; where it is 0, the figures that it gives are missing',
    registers: [registry],
    async collect() {
      this.set((await waiting()) ? 1 : 0);
    },
  });
}

async function ask(pool: pg.Pool): Promise<Waiting | undefined> {
  try {
    const [jobs, [notes]] = await Promise.all([
      query(pool, waitingJobs()),
      query(pool, pendingTotals()),
    ]);
    return {
      jobs: Object.fromEntries(jobs.map((row) => [row.queue, row.jobs])),
      notes: notes?.notes ?? 0,
      oldest_seconds: notes?.oldest_seconds ?? 0,
    };
  } catch {
    return undefined;
  }
}
