/** Largest number of batches that run concurrently. */
const MAX_CONCURRENT = 2;
/** Largest number of items in one batch. */
export const MAX_BATCH = 32;
/** Smallest batch to split off or run beside another: a batch costs as much as several commands. */
const MIN_BATCH = 8;
/** After this wait, an item of work leaves the queue and runs on its own. */
const WAIT_MS = 100;

interface Waiting<Work, Result> {
  work: Work;
  ids: readonly string[];
  resolve(result: Result | undefined): void;
  reject(error: unknown): void;
  timer?: NodeJS.Timeout;
}

/**
 * Batches work that arrives while earlier batches run. Up to `maxConcurrent` batches run concurrently, so
 * that one is prepared while the database flushes another. A further batch starts only if `minWaiting`
 * items wait, and the queue is split only into batches of at least `minBatch` items.
 * Items that share an id never run concurrently, nor in one batch.
 *
 * `run` resolves to the results in the order of its batch. `join` resolves to the item's result, or
 * to `undefined` if the caller must run the item on its own: because `run` returned `undefined` for
 * it, or because it waited longer than `waitMs`.
 */
export function createBatcher<Work, Result>(
  run: (batch: readonly Work[]) => Promise<readonly (Result | undefined)[]>,
  {
    maxConcurrent = MAX_CONCURRENT,
    waitMs = WAIT_MS,
    minBatch = MIN_BATCH,
    minWaiting = MIN_BATCH,
  } = {},
) {
  // Arrays, not Sets: V8 links the outgrown hash tables of a long-lived Set, which keeps removed
  // entries and the requests they refer to in memory until the next full garbage collection.
  let waiting: Waiting<Work, Result>[] = [];
  let underWay: (readonly Waiting<Work, Result>[])[] = [];
  let due = false;

  function join(work: Work, ids: readonly string[]): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      const entry: Waiting<Work, Result> = { work, ids, resolve, reject };
      waiting.push(entry);
      if (underWay.length < maxConcurrent) soon();
      entry.timer = setTimeout(() => {
        waiting = waiting.filter((other) => other !== entry);
        resolve(undefined);
      }, waitMs);
    });
  }

  /** Starts the next batch after this event loop turn, to include the turn's arrivals. */
  function soon(): void {
    if (!due) setImmediate(next);
    due = true;
  }

  function next(): void {
    due = false;
    while (
      underWay.length === 0 ||
      (underWay.length < maxConcurrent && waiting.length >= minWaiting)
    ) {
      const batch = take();
      if (batch.length === 0) return;
      void start(batch);
    }
  }

  function take(): Waiting<Work, Result>[] {
    const split = waiting.length < 2 * minBatch ? 1 : maxConcurrent - underWay.length;
    const most = Math.min(MAX_BATCH, Math.ceil(waiting.length / split));
    const held = new Set(underWay.flat().flatMap(({ ids }) => ids));
    const batch: Waiting<Work, Result>[] = [];
    waiting = waiting.filter((entry) => {
      if (batch.length === most || entry.ids.some((id) => held.has(id))) return true;
      for (const id of entry.ids) held.add(id);
      clearTimeout(entry.timer);
      batch.push(entry);
      return false;
    });
    return batch;
  }

  async function start(batch: readonly Waiting<Work, Result>[]): Promise<void> {
    underWay.push(batch);
    try {
      const results = await run(batch.map(({ work }) => work));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay = underWay.filter((other) => other !== batch);
    if (waiting.length > 0) soon();
  }

  return { join };
}
