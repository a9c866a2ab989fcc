import t from 'tap';
import { BATCH_SIZE, forEachInBatches } from '../../workers/running/batches.ts';

/** Numbered rows that wait; a completed row is removed. */
function createRows(count: number) {
  const rows = new Set(Array.from({ length: count }, (_, id) => id));
  const tried: number[] = [];
  const run = (work: (id: number) => boolean) =>
    forEachInBatches(
      async (limit) => [...rows].slice(0, limit).map((id) => ({ id })),
      async ({ id }) => {
        tried.push(id);
        if (!work(id)) return false;
        return rows.delete(id);
      },
    );
  return { rows, tried, run };
}

t.test('handles every row, across more than one batch', async (t) => {
  const { rows, tried, run } = createRows(2 * BATCH_SIZE);
  t.equal(await run(() => true), 2 * BATCH_SIZE);
  t.equal(rows.size, 0);
  t.equal(tried.length, 2 * BATCH_SIZE);
});

t.test('continues past batches without work, and ends', async (t) => {
  const { rows, tried, run } = createRows(3 * BATCH_SIZE);
  t.equal(await run((id) => id >= 2 * BATCH_SIZE), BATCH_SIZE);
  t.equal(rows.size, 2 * BATCH_SIZE);
  t.equal(tried.length, 3 * BATCH_SIZE, 'each row was tried once');
});

t.test('continues past a failed batch and fails at the end', async (t) => {
  const { rows, tried, run } = createRows(2 * BATCH_SIZE);
  const broken = new Error('broken');
  const work = (id: number) => {
    if (id < BATCH_SIZE) throw broken;
    return true;
  };
  await t.rejects(run(work), { message: `${BATCH_SIZE} rows failed`, cause: broken });
  t.equal(rows.size, BATCH_SIZE);
  t.equal(tried.length, 2 * BATCH_SIZE);
});
