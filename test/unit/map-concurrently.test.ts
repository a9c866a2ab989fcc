import t from 'tap';
import { mapConcurrently } from '../../platform/concurrency.ts';

t.test('maps concurrently up to the limit and returns results in order', async (t) => {
  let running = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const mapped = mapConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
    running++;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => waiting.push(resolve));
    running--;
    return item * 10;
  });
  for (let released = 0; released < 5; released++) {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    t.ok(running <= 2);
    waiting.pop()?.();
  }
  t.same(await mapped, [10, 20, 30, 40, 50]);
  t.equal(most, 2);
});
