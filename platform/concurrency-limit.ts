/** Lets at most `size` calls of `work` run at a time; the others begin in the order of their calls. */
export function concurrencyLimit(size: number) {
  const waiting: (() => void)[] = [];
  let free = size;

  return async function limited<Result>(work: () => Promise<Result>): Promise<Result> {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
