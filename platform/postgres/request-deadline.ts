import { AsyncLocalStorage } from 'node:async_hooks';

/** Total time that a request may wait for storage before it is refused, in milliseconds. */
export const STORAGE_BUDGET_MS = 2800;
let budgetMs = STORAGE_BUDGET_MS;

/**
 * Sets this time for the whole process. Only tests call it: a busy machine takes longer than a request
 * may, and most tests are about something else.
 */
export function setStorageBudget(ms: number): void {
  budgetMs = ms;
}

/** Time that each storage call of a job may take, in milliseconds: less than a worker's time to stop. */
export const JOB_MS = 15_000;

interface RequestBudget {
  left: number;
  /** Called before each use of storage; it may refuse it with an error. */
  enter?: (() => void) | undefined;
}

const patience = new AsyncLocalStorage<RequestBudget | { each: number }>();

/** Runs a job: no caller waits for it, so each of its storage calls has a time budget of `JOB_MS`. */
export const asJob = <Result>(work: () => Promise<Result>): Promise<Result> =>
  patience.run({ each: JOB_MS }, work);

/**
 * Runs `work`, whose storage calls (a request's reads and its command) share one time budget. For
 * work on behalf of requests that have already waited, pass their `deadline` as `until`.
 */
export function withDeadline<Result>(
  work: () => Promise<Result>,
  until = performance.now() + budgetMs,
  enter?: () => void,
): Promise<Result> {
  return patience.run({ left: until - performance.now(), enter }, work);
}

/** Runs `work` with the time that is left of the budget; `until` is a `deadline`. */
export async function withinDeadline<Result>(
  work: (until: number) => Promise<Result>,
): Promise<Result> {
  enterStorage();
  return sharedWithinDeadline(work);
}

/** The same for work that requests share, which is cheap: it takes no place. */
export function sharedWithinDeadline<Result>(
  work: (until: number) => Promise<Result>,
): Promise<Result> {
  const until = deadline();
  // Runs outside of the budget's context, because batched work belongs to no single request.
  return deduct(() => patience.run(undefined as never, () => work(until)));
}

/** Runs `work` as use of storage, and deducts its duration from the time budget. */
export async function measureStorage<Result>(work: () => Promise<Result>): Promise<Result> {
  enterStorage();
  return deduct(work);
}

/** Takes the place of the request among those that use storage. Throws the problem `overloaded`. */
export function enterStorage(): void {
  const budget = patience.getStore();
  if (budget && 'left' in budget) budget.enter?.();
}

/** Whether this is work that requests share: many callers wait for it. */
export function isShared(): boolean {
  const budget = patience.getStore();
  return budget !== undefined && 'left' in budget && budget.enter === undefined;
}

async function deduct<Result>(work: () => Promise<Result>): Promise<Result> {
  const shared = patience.getStore();
  const started = performance.now();
  try {
    return await work();
  } finally {
    if (shared && 'left' in shared) shared.left -= performance.now() - started;
  }
}

/** When the time budget ends, by `performance.now()`, which clock changes do not affect. */
export function deadline(): number {
  const budget = patience.getStore() ?? { left: budgetMs };
  return performance.now() + ('each' in budget ? budget.each : budget.left);
}
