export const BATCH = 500;
const LANES = 4;

/**
 * Works through what `next` finds, batch by batch, until a batch is not full. A row that fails
 * keeps no other from its turn; it ends the run after its batch, and the job is retried.
 */
export async function inBatches<Row>(
  next: (limit: number) => Promise<Row[]>,
  work: (row: Row) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  for (;;) {
    const rows = await next(BATCH);
    const waiting = rows.values();
    const errors: unknown[] = [];
    const lane = async () => {
      for (const row of waiting) {
        try {
          if (await work(row)) done++;
        } catch (error) {
          errors.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    if (errors.length > 0)
      throw new Error(`${errors.length} of ${rows.length} rows failed`, { cause: errors[0] });
    if (rows.length < BATCH) return done;
  }
}
