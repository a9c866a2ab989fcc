import t from 'tap';
import { createCoalescer } from '../../platform/postgres/coalescer.ts';

t.test(
  'who asks during a piece of work shares the next one, never the one under way',
  async (t) => {
    const once = createCoalescer<number>();
    const begun: PromiseWithResolvers<void>[] = [];
    const work = async () => {
      const turn = Promise.withResolvers<void>();
      const number = begun.push(turn);
      await turn.promise;
      return number;
    };
    const settle = async () => {
      for (const _ of [1, 2]) await new Promise((resolve) => setImmediate(resolve));
    };

    const first = once('a', work);
    const other = once('b', work);
    await new Promise((resolve) => process.nextTick(resolve));
    const beside = once('a', work);
    t.equal(begun.length, 0, 'not before the end of the turn, which they share');
    await settle();
    t.equal(begun.length, 2, 'one for each key');
    const second = once('a', work);
    const third = once('a', work);
    begun[0]?.resolve();
    t.same(await Promise.all([first, beside]), [1, 1]);
    await settle();
    t.equal(begun.length, 3);
    const fourth = once('a', work);
    for (const turn of begun) turn.resolve();
    t.same(await Promise.all([second, third, other]), [3, 3, 2]);
    await settle();
    begun[3]?.resolve();
    t.equal(await fourth, 4);
  },
);

t.test('a failure is told to whoever shared it, and the next one begins afresh', async (t) => {
  const once = createCoalescer<string>();
  const fail = () => Promise.reject(new Error('no'));
  const first = once('a', fail);
  const second = once('a', async () => 'never begun: the first who waits says what is done');
  await t.rejects(first, /no/);
  await t.rejects(second, /no/);
  t.equal(await once('a', async () => 'yes'), 'yes');
});
