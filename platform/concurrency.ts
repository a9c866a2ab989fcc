/**
 * Lets at most `size` calls of `work` run at a time; the others begin in the order of their calls, `urgent`
 * ones before the rest.
 */
export function concurrencyLimit(size: number) {
  const urgentOnes: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  let free = size;

  return async function limited<Result>(
    work: () => Promise<Result>,
    urgent = false,
  ): Promise<Result> {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => (urgent ? urgentOnes : waiting).push(resolve));
    try {
      return await work();
    } finally {
      const next = urgentOnes.shift() ?? waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/** Maps the items in order, at most `limit` of them at once. Rejects with the first error. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const work = async () => {
    for (const [index, item] of rest) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}

/** Calls `act` once `signal` is aborted, at once if it is already. */
export function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}
