import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createBatcher } from '../../platform/batcher.ts';

/** A group whose batches end when they are told to. */
function started(waitMs = 60_000) {
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

t.test('work that finds a lane free goes in the same turn of the loop', async (t) => {
  const { batches, join, end } = started();
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

t.test('what comes at once shares the free lanes, but for a few', async (t) => {
  for (const [count, sizes] of [
    [8, [8]],
    [15, [15]],
    [17, [9, 8]],
    [75, [32, 32]],
  ] as const) {
    const { batches, join, end } = started();
    const all = works(count).map((work) => join(work));
    await turn();
    t.same(
      batches.map(({ length }) => length),
      sizes,
    );
    t.same(batches.flat(), works(count).slice(0, 64), 'in their order');
    for (let index = 0; index < 3; index++) {
      end(index);
      await turn();
    }
    await Promise.all(all);
  }
});

t.test('a few wait for the batch under way, and go together; more go beside it', async (t) => {
  const { batches, join, end } = started();
  const first = join('first');
  await turn();
  const few = works(7).map((work) => join(work));
  await turn();
  t.same(batches, [['first']]);
  end(0);
  t.equal(await first, 'first done');
  await turn();
  t.same(batches.slice(1), [works(7)]);
  const more = works(8, 7).map((work) => join(work));
  await turn();
  t.same(batches.slice(2), [works(8, 7)]);
  end(1);
  end(2);
  t.same(
    await Promise.all([...few, ...more]),
    works(15).map((work) => `${work} done`),
  );
});

t.test('what shares an id is not under way together, and keeps its order', async (t) => {
  const { batches, join, end } = started();
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

t.test('a failed batch gives its lane and its ids free', async (t) => {
  const { batches, join, end } = started();
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

t.test('who waits for a lane for long is told to go alone', async (t) => {
  const { batches, join, end } = started(5);
  const first = join('a', '1');
  await turn();
  t.equal(await join('b', '1'), undefined);
  end(0);
  t.equal(await first, 'a done');
  await turn();
  t.same(batches, [['a']], 'and does not go twice');
});
