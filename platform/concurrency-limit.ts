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
