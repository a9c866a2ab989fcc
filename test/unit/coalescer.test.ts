import t from 'tap';
import { createCoalescer } from '../../platform/postgres/coalescer.ts';

t.test('shares the next run among callers during a run, never the current one', async (t) => {
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
  t.equal(begun.length, 0, 'work starts at the end of the turn');
  await settle();
  t.equal(begun.length, 2, 'one run per key');
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
});

t.test('rejects all sharers of a failure and then starts afresh', async (t) => {
  const once = createCoalescer<string>();
  const fail = () => Promise.reject(new Error('no'));
  const first = once('a', fail);
  const second = once('a', async () => 'never begun: the first who waits says what is done');
  await t.rejects(first, /no/);
  await t.rejects(second, /no/);
  t.equal(await once('a', async () => 'yes'), 'yes');
});
