import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createBatcher } from '../../platform/batcher.ts';

/** A batcher whose batches end when the test ends them. */
function startBatcher(waitMs = 60_000) {
  const batches: string[][] = [];
  const ends: ((fail?: Error) => void)[] = [];
  const group = createBatcher<string, string>(
    (batch) =>
      new Promise((resolve, reject) => {
        batches.push([...batch]);
        ends.push((fail) => (fail ? reject(fail) : resolve(batch.map((work) => `${work} done`))));
      }),
    { waitMs, maxConcurrent: 2 },
  );
  const join = (work: string, ...ids: string[]) => group.join(work, ids);
  return { batches, join, end: (index: number, fail?: Error) => ends[index]?.(fail) };
}

t.test('runs work in the same turn when a slot is free', async (t) => {
  const { batches, join, end } = startBatcher();
  for (const [index, work] of ['first', 'second'].entries()) {
    const done = join(work);
    await turn();
    t.same(batches[index], [work]);
    end(index);
    t.equal(await done, `${work} done`);
  }
});

const works = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `work ${from + index}`);

t.test('splits a burst between free slots unless it is small', async (t) => {
  for (const [count, sizes] of [
    [8, [8]],
    [15, [15]],
    [17, [9, 8]],
    [75, [32, 32]],
  ] as const) {
    const { batches, join, end } = startBatcher();
    const all = works(count).map((work) => join(work));
    await turn();
    t.same(
      batches.map(({ length }) => length),
      sizes,
    );
    t.same(batches.flat(), works(count).slice(0, 64), 'the works keep their order');
    for (let index = 0; index < 3; index++) {
      end(index);
      await turn();
    }
    await Promise.all(all);
  }
});

t.test('makes small batches wait for a running batch and larger ones run beside it', async (t) => {
  const { batches, join, end } = startBatcher();
  const first = join('first');
  await turn();
  const small = works(7).map((work) => join(work));
  await turn();
  t.same(batches, [['first']]);
  end(0);
  t.equal(await first, 'first done');
  await turn();
  t.same(batches.slice(1), [works(7)]);
  const large = works(8, 7).map((work) => join(work));
  await turn();
  t.same(batches.slice(2), [works(8, 7)]);
  end(1);
  end(2);
  t.same(
    await Promise.all([...small, ...large]),
    works(15).map((work) => `${work} done`),
  );
});

t.test('never runs work with a shared id together and keeps its order', async (t) => {
  const { batches, join, end } = startBatcher();
  const done = [join('a', '1'), join('b', '1', '2'), join('c', '3')];
  await turn();
  t.same(batches, [['a', 'c']], 'b waits for a');
  end(0);
  await done[0];
  await turn();
  t.same(batches, [['a', 'c'], ['b']]);
  end(1);
  t.same(await Promise.all(done), ['a done', 'b done', 'c done']);
});

t.test('frees the slot and the ids of a failed batch', async (t) => {
  const { batches, join, end } = startBatcher();
  const failed = join('a', '1');
  await turn();
  end(0, new Error('broken'));
  await t.rejects(failed, { message: 'broken' });
  const next = join('b', '1');
  await turn();
  t.same(batches[1], ['b']);
  end(1);
  t.equal(await next, 'b done');
});

t.test('returns undefined after waiting too long for a slot', async (t) => {
  const { batches, join, end } = startBatcher(5);
  const first = join('a', '1');
  await turn();
  t.equal(await join('b', '1'), undefined);
  end(0);
  t.equal(await first, 'a done');
  await turn();
  t.same(batches, [['a']], 'the abandoned work does not run');
});
