import { AsyncLocalStorage } from 'node:async_hooks';

/** How long storage may keep a request waiting before it is refused, in milliseconds. */
const PATIENCE_MS = 2800;

const patience = new AsyncLocalStorage<{ left: number }>();

/**
 * All that is asked of storage in `work` shares one patience: a request's reads and its command. What
 * is asked for others who have waited takes until their `deadline`.
 */
export function sharedPatience<Result>(
  work: () => Promise<Result>,
  until = performance.now() + PATIENCE_MS,
): Promise<Result> {
  return patience.run({ left: until - performance.now() }, work);
}

/** Work that may use up what is left of the patience; `until` is a `deadline`. */
export function patiently<Result>(work: (until: number) => Promise<Result>): Promise<Result> {
  const until = deadline();
  // Outside of it, since work for several requests at once is done on behalf of none of them.
  return spending(() => patience.run(undefined as never, () => work(until)));
}

/** What `work` takes is taken from the patience. */
export async function spending<Result>(work: () => Promise<Result>): Promise<Result> {
  const shared = patience.getStore();
  const started = performance.now();
  try {
    return await work();
  } finally {
    if (shared) shared.left -= performance.now() - started;
  }
}

/** Until when storage may take now, by `performance.now()`, which no change of the clock moves. */
export function deadline(): number {
  return performance.now() + (patience.getStore()?.left ?? PATIENCE_MS);
}
