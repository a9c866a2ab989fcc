import t from 'tap';
import { FAULTS, planOf } from '../../proof/plan.ts';
import { seeded } from '../../proof/random.ts';

const steps = (seed: number, count: number, bursts = ['a', 'b', 'c']) => {
  const plan = planOf(seeded(seed), bursts);
  return Array.from({ length: count }, () => plan.next().value);
};

t.test('a seed gives its plan again, and another seed another one', async (t) => {
  t.same(steps(7, 30), steps(7, 30));
  t.notSame(steps(7, 30), steps(8, 30));
});

t.test('every fault comes once in as many steps as there are, and so on', async (t) => {
  const faults = steps(1, FAULTS.length * 2).map(({ fault }) => fault);
  t.same(faults.slice(0, FAULTS.length).sort(), [...FAULTS].sort());
  t.same(faults.slice(FAULTS.length).sort(), [...FAULTS].sort());
});

t.test('every burst comes as often as any other', async (t) => {
  const bursts = ['a', 'b', 'c', 'd', 'e', 'f'];
  const run = steps(3, 4, bursts).flatMap(({ amid, after }) => [...amid, ...after]);
  for (const name of bursts) t.equal(run.filter((one) => one === name).length, 2);
});
