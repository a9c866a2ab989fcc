import t from 'tap';
import { possibleFaults } from '../../proof/faults.ts';
import { FAULTS, planOf } from '../../proof/plan.ts';
import { seeded } from '../../proof/random.ts';

const steps = (seed: number, count: number, bursts = ['a', 'b', 'c']) => {
  const plan = planOf(seeded(seed), bursts);
  return Array.from({ length: count }, () => plan.next().value);
};

t.test('gives the same plan for a seed and another plan for another seed', async (t) => {
  t.same(steps(7, 30), steps(7, 30));
  t.notSame(steps(7, 30), steps(8, 30));
});

t.test('uses every fault once in each round', async (t) => {
  const faults = steps(1, FAULTS.length * 2).map(({ fault }) => fault);
  t.same(faults.slice(0, FAULTS.length).sort(), [...FAULTS].sort());
  t.same(faults.slice(FAULTS.length).sort(), [...FAULTS].sort());
});

t.test('uses every burst equally often', async (t) => {
  const bursts = ['a', 'b', 'c', 'd', 'e', 'f'];
  const run = steps(3, 4, bursts).flatMap(({ amid, after }) => [...amid, ...after]);
  for (const name of bursts) t.equal(run.filter((one) => one === name).length, 2);
});

t.test('restarts no pooler where none is installed', async (t) => {
  const faults = possibleFaults({ pooler: undefined });
  t.same(
    FAULTS.filter((name) => !faults.includes(name)),
    ['the pooler is restarted'],
  );
});
