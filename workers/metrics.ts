import { Histogram, type Registry } from 'prom-client';

const JOB_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** Registers the histogram of job durations by queue and outcome. */
export function jobMetrics(registry: Registry) {
  const duration = new Histogram({
    name: 'job_duration_seconds',
    help: 'Duration of the jobs that this process ended, by queue and outcome (done or failed)',
    labelNames: ['queue', 'outcome'],
    buckets: JOB_SECONDS,
    registers: [registry],
  });
  return {
    ended(queue: string, outcome: 'done' | 'failed', seconds: number): void {
      duration.observe({ queue, outcome }, seconds);
    },
  };
}
