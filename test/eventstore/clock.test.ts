import t from 'tap';
import { openClock } from '../../services/eventstore/clock.ts';

/** Both clocks of the machine, moved by hand. */
function machine(t: { teardown(end: () => void): unknown }) {
  const given = { now: Date.now, elapsed: performance.now };
  const at = { now: 1_700_000_000_000, elapsed: 5000 };
  Date.now = () => at.now;
  performance.now = () => at.elapsed;
  t.teardown(() => {
    Date.now = given.now;
    performance.now = given.elapsed;
  });
  return {
    pass(ms: number) {
      at.now += ms;
      at.elapsed += ms;
    },
    set(ms: number) {
      at.now += ms;
    },
  };
}

const NOON = new Date('2026-01-01T12:00:00.000Z');
const after = (ms: number) => new Date(NOON.getTime() + ms);

t.test('goes on from the last look, by whole milliseconds and never ahead', (t) => {
  const { pass } = machine(t);
  const clock = openClock();
  t.equal(clock.read(), undefined);
  clock.saw(NOON);
  t.same(clock.read(), NOON);
  pass(400.9);
  t.same(clock.read(), after(400));
  pass(599);
  t.same(clock.read(), after(998), 'a thousandth slow');
  pass(1);
  t.equal(clock.read(), undefined, 'too long ago');
  clock.saw(after(1100));
  t.same(clock.read(), after(1100));
  t.end();
});

t.test('does not go back where an answer is late', (t) => {
  const { pass } = machine(t);
  const clock = openClock();
  t.same(clock.saw(NOON), NOON);
  pass(200);
  const before = clock.read();
  t.same(clock.saw(after(20)), before);
  pass(900);
  t.same(clock.read(), after(1098), 'trusted anew, since it was looked at');
  t.same(clock.saw(after(1100)), after(1100), 'an answer that came sooner is nearer');
  pass(5000);
  t.same(clock.saw(after(6090)), after(6095), 'nor after a while');
  t.end();
});

t.test('follows the database where its clock is set back', (t) => {
  const { pass } = machine(t);
  const clock = openClock();
  clock.saw(NOON);
  pass(10);
  t.same(clock.saw(after(-60_000)), after(-60_000));
  t.same(clock.read(), after(-60_000));
  t.end();
});

for (const ms of [60_000, -60_000])
  t.test(`is unknown once the machine's clock went ${ms} ms by itself`, (t) => {
    const { pass, set } = machine(t);
    const clock = openClock();
    clock.saw(NOON);
    pass(10);
    set(ms);
    t.equal(clock.read(), undefined);
    clock.saw(after(20));
    t.same(clock.read(), after(20));
    t.end();
  });
