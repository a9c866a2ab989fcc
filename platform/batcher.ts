/** How many batches may be on their way to the disk at once. */
const LANES = 2;
const MOST = 32;
/** A batch costs as much as several of its commands: no fewer are split off, or go beside another. */
const FEW = 8;
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
 * Gathers work while earlier work is flushed: one that finds all lanes free goes at once, and many
 * share them, so that one batch is prepared while another is with the database: no fewer than `few`
 * in each, and beside another only where `beside` wait. No two that share an id are under way together.
 * `run` answers in the order of its batch; `undefined`, to whoever is to go alone instead.
 */
export function openGroup<Work, Result>(
  run: (batch: readonly Work[]) => Promise<readonly (Result | undefined)[]>,
  { lanes = LANES, waitMs = WAIT_MS, few = FEW, beside = FEW } = {},
) {
  // Lists, since a Set that lives long links each of its old tables to the next: V8 keeps what they
  // held, down to the request that asked, until it next collects all of the heap.
  let waiting: Waiting<Work, Result>[] = [];
  let underWay: (readonly Waiting<Work, Result>[])[] = [];
  let due = false;

  function join(work: Work, ids: readonly string[]): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      const entry: Waiting<Work, Result> = { work, ids, resolve, reject };
      waiting.push(entry);
      if (underWay.length < lanes) soon();
      entry.timer = setTimeout(() => {
        waiting = waiting.filter((other) => other !== entry);
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
    while (underWay.length === 0 || (underWay.length < lanes && waiting.length >= beside)) {
      const batch = take();
      if (batch.length === 0) return;
      void start(batch);
    }
  }

  function take(): Waiting<Work, Result>[] {
    const split = waiting.length < 2 * few ? 1 : lanes - underWay.length;
    const most = Math.min(MOST, Math.ceil(waiting.length / split));
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
