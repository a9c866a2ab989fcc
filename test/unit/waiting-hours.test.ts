import t from 'tap';
import { countMissing, toRuns, toWaitingHours } from '../../web/console/figures/waiting-hours.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-09-12T12:20:00Z');
const counted = (counts: Readonly<Record<number, number>>) =>
  Object.entries(counts).map(([hoursAgo, waiting]) => ({
    hour: new Date(Date.parse('2026-09-12T12:00:00Z') - Number(hoursAgo) * HOUR_MS).toISOString(),
    waiting,
    oldest_age_seconds: null,
  }));

t.test('has no hours without a count', async (t) => {
  t.same(toWaitingHours([], 7, NOW), []);
  t.same(toWaitingHours(counted({ 500: 3 }), 7, NOW), [], 'nor with older counts alone');
});

t.test('begins with the first count, and shows at least one day', async (t) => {
  const young = toWaitingHours(counted({ 2: 5, 1: 4, 0: 3 }), 7, NOW);
  t.equal(young.length, 24);
  t.same(
    young.slice(-4).map(({ waiting }) => waiting),
    [null, 5, 4, 3],
  );
  t.equal(countMissing(young), 0, 'what was before the first count is no gap');
  t.equal(toWaitingHours(counted({ 50: 1, 0: 3 }), 7, NOW).length, 51);
});

t.test('shows no more than the days of the page, and of what is kept', async (t) => {
  const always = counted(Object.fromEntries(Array.from({ length: 400 }, (_, ago) => [ago, ago])));
  t.equal(toWaitingHours(always, 7, NOW).length, 7 * 24);
  t.equal(toWaitingHours(always, 30, NOW).length, 14 * 24);
});

t.test('does not call the present hour a gap before its count', async (t) => {
  const hours = toWaitingHours(counted({ 2: 5, 1: 4 }), 7, NOW);
  t.equal(hours.at(-1)?.waiting, 4);
  t.equal(countMissing(hours), 0);
});

t.test('breaks the line where no count was made', async (t) => {
  const hours = toWaitingHours(counted({ 30: 1, 29: 2, 27: 3, 2: 4, 1: 5, 0: 6 }), 7, NOW);
  t.same(
    toRuns(hours).map((run) => run.map(({ waiting }) => waiting)),
    [[1, 2], [3], [4, 5, 6]],
  );
  t.equal(countMissing(hours), 1 + 24);
});
