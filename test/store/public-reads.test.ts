import t from 'tap';
import { createPool } from '../../platform/postgres/pool.ts';
import { query, runRead } from '../../platform/postgres/query.ts';
import { publicReads } from '../../platform/postgres/replica.ts';
import { withDeadline } from '../../platform/postgres/request-deadline.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

const ONE = sql<{ one: number }>`SELECT 1 AS one`;

for (const [size, share] of [
  [4, 2],
  [2, 1],
] as const)
  t.test(`reads of anyone use ${share} of ${size} connections of a pool`, async (t) => {
    const { url } = await testDatabase(t);
    const pool = createPool(url, 'public reads', size);
    t.teardown(() => pool.end());
    const reads = publicReads(pool);
    const released = Promise.withResolvers<void>();
    let busy = 0;
    const read = () =>
      runRead(reads, async () => {
        busy++;
        await released.promise;
      });
    await withDeadline(async () => {
      const all = Promise.allSettled(Array.from({ length: 2 * size }, read));
      while (busy < share) await new Promise(setImmediate);
      t.same(await query(pool, ONE), [{ one: 1 }], 'other work finds a free connection');
      t.equal(busy, share);
      released.resolve();
      await all;
      t.same(await query(reads, ONE), [{ one: 1 }], 'reads go on after the wait');
    }, performance.now() + 60_000);
  });

t.test('a read takes the place of its request before it waits for the share', async (t) => {
  const { url } = await testDatabase(t);
  const pool = createPool(url, 'public reads', 2);
  t.teardown(() => pool.end());
  const reads = publicReads(pool);
  const released = Promise.withResolvers<void>();
  const placed = new Set<number>();
  const all = Array.from({ length: 3 }, (_, request) =>
    withDeadline(
      () => runRead(reads, () => released.promise),
      performance.now() + 60_000,
      () => void placed.add(request),
    ),
  );
  t.equal(placed.size, 3, 'two of them wait');
  released.resolve();
  await Promise.all(all);
});

t.test('a read that requests share goes before reads that wait for the share', async (t) => {
  const { url } = await testDatabase(t);
  const pool = createPool(url, 'public reads', 2);
  t.teardown(() => pool.end());
  const reads = publicReads(pool);
  const released = Promise.withResolvers<void>();
  const order: string[] = [];
  const read = (name: string, enter?: () => void) =>
    withDeadline(
      () =>
        runRead(reads, async () => {
          order.push(name);
          await released.promise;
        }),
      performance.now() + 60_000,
      enter,
    );
  const enter = () => undefined;
  const all = [read('first', enter), read('waiting', enter), read('shared')];
  while (order.length === 0) await new Promise(setImmediate);
  released.resolve();
  await Promise.all(all);
  t.same(order, ['first', 'shared', 'waiting']);
});
