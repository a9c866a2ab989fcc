import type { Test } from 'tap';
import {
  JOB_MS,
  STORAGE_BUDGET_MS,
  setStorageBudget,
} from '../../platform/postgres/request-deadline.ts';

/**
 * Gives requests and commands in this process more time for storage than in production: most tests
 * are not about time, and a busy machine would refuse what they only arrange.
 */
export const extendRequestTime = (): void => setStorageBudget(JOB_MS);

/** Gives them the time that they have in production, until the test ends. */
export function keepRequestTime(t: Pick<Test, 'teardown'>): void {
  setStorageBudget(STORAGE_BUDGET_MS);
  t.teardown(extendRequestTime);
}
