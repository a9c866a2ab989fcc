import type { PgBoss } from 'pg-boss';

/** Where a job goes that failed for the last time. Nothing works on it: a person looks. */
export const DEAD_LETTERS = 'dead-letters';

interface Retry {
  retryLimit: number;
  /** Seconds before the first retry; with `retryBackoff` it doubles from there. */
  retryDelay: number;
  retryBackoff: boolean;
  /** Seconds until a job whose worker was killed is given to another; 15 minutes where not said. */
  expireInSeconds?: number;
}

// A sweep that is missed is made good by the next one, so it is hardly retried.
const SWEEP: Retry = { retryLimit: 2, retryDelay: 5, retryBackoff: true };

// Three tries within half a minute: until then a console says that a screening is on its way.
const SCREENING: Retry = {
  retryLimit: 2,
  retryDelay: 3,
  retryBackoff: true,
  expireInSeconds: 60,
};

/** Every queue. Whichever process comes first makes them, so their settings stand here. */
export const QUEUES = {
  'expire-sessions': SWEEP,
  'expire-credentials': SWEEP,
  'lapse-case-claims': SWEEP,
  'sweep-rate-counters': SWEEP,
  'expire-leases': SWEEP,
  'screen-note': SCREENING,
} as const satisfies Record<string, Retry>;

export type QueueName = keyof typeof QUEUES;
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** Idempotent. The dead letter queue must be there before what names it. */
export async function makeQueues(boss: PgBoss): Promise<void> {
  await boss.createQueue(DEAD_LETTERS);
  for (const name of QUEUE_NAMES)
    await boss.createQueue(name, { ...QUEUES[name], deadLetter: DEAD_LETTERS });
}
