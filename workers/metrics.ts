import type pg from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { pendingTotals } from '../projections/notes.ts';
import { DEAD_LETTERS, QUEUE_NAMES, type QueueName, waitingJobs } from '../services/jobs/queues.ts';
import { query } from '../services/postgres.ts';

const JOB_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

interface Waiting {
  jobs: Readonly<Record<string, number>>;
  notes: number;
  oldest_seconds: number;
}

/** Jobs by queue, and what waits in the database, asked for once whenever somebody looks. */
export function workMetrics(registry: Registry, pool: pg.Pool) {
  const duration = new Histogram({
    name: 'job_duration_seconds',
    help: 'Jobs that this process ended, by outcome, and how long they took',
    labelNames: ['queue', 'outcome'],
    buckets: JOB_SECONDS,
    registers: [registry],
  });

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
        // A figure that is not known is not told; 0 would be a claim.
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

  return {
    ended(queue: QueueName, outcome: 'done' | 'failed', seconds: number): void {
      duration.observe({ queue, outcome }, seconds);
    },
  };
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
