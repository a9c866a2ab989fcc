/** How many batches may be on their way to the disk at once. */
const LANES = 3;
const MOST = 32;
/** Whoever waited so long for a lane goes alone. */
const WAIT_MS = 100;

interface Waiting<Work, Result> {
  work: Work;
  ids: readonly string[];
  resolve(result: Result | undefined): void;
  reject(error: unknown): void;
  timer?: NodeJS.Timeout;
}

/**
 * Gathers work while earlier work is flushed: one that finds a lane free goes at once. No two that
 * share an id are under way together. `run` answers in the order of its batch; `undefined`, to
 * whoever is to go alone instead.
 */
export function openGroup<Work, Result>(
  run: (batch: readonly Work[]) => Promise<readonly (Result | undefined)[]>,
  { lanes = LANES, waitMs = WAIT_MS } = {},
) {
  const waiting = new Set<Waiting<Work, Result>>();
  const held = new Set<string>();
  let busy = 0;
  let due = false;

  function join(work: Work, ids: readonly string[]): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      const entry: Waiting<Work, Result> = { work, ids, resolve, reject };
      waiting.add(entry);
      if (busy < lanes) soon();
      entry.timer = setTimeout(() => {
        waiting.delete(entry);
        resolve(undefined);
      }, waitMs);
    });
  }

  /** Within this turn of the loop, so that what has arrived in it goes together. */
  function soon(): void {
    if (!due) setImmediate(next);
    due = true;
  }

  function next(): void {
    due = false;
    while (busy < lanes) {
      const batch = take();
      if (batch.length === 0) return;
      void start(batch);
    }
  }

  function take(): Waiting<Work, Result>[] {
    const batch: Waiting<Work, Result>[] = [];
    for (const entry of waiting) {
      if (entry.ids.some((id) => held.has(id))) continue;
      for (const id of entry.ids) held.add(id);
      waiting.delete(entry);
      clearTimeout(entry.timer);
      if (batch.push(entry) === MOST) break;
    }
    return batch;
  }

  async function start(batch: readonly Waiting<Work, Result>[]): Promise<void> {
    busy++;
    try {
      const results = await run(batch.map(({ work }) => work));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    busy--;
    for (const { ids } of batch) for (const id of ids) held.delete(id);
    if (waiting.size > 0) soon();
  }

  return { join };
}
