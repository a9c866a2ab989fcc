import t from 'tap';
import { feedsWhole } from '../../proof/rules/feeds.ts';
import { logFacts } from '../support/histories.ts';

const rows = (...sequences: number[]) =>
  sequences.map((sequence) => ({ member: 'ann', sequence, id: `e${sequence}` }));
const seen = (whole: boolean, ...sequences: number[]) => [
  { member: 'ann', whole, events: sequences.map((sequence) => ({ id: `e${sequence}`, sequence })) },
];
const feed = logFacts({ feed: rows(1, 2, 3) });

t.test('a feed that was read to its end, or up to somewhere, is right', async (t) => {
  t.same(feedsWhole(seen(true, 1, 2, 3), feed), []);
  t.same(feedsWhole(seen(false, 1, 2), feed), []);
});

t.test('an event that a reader missed, was given twice or out of order is found', async (t) => {
  t.match(feedsWhole(seen(false, 1, 3), feed).join(), /read 3 as the 2th/);
  t.match(feedsWhole(seen(false, 1, 1), feed).join(), /read 1 as the 2th/);
  t.match(feedsWhole(seen(false, 2, 1), feed).join(), /read 2 as the 1th/);
  t.match(feedsWhole(seen(true, 1, 2), feed).join(), /3 events, 2 were read/);
});

t.test('an event that was read and is gone, or is another now, is found', async (t) => {
  t.match(feedsWhole(seen(false, 1, 2, 3, 4), feed).join(), /read as 4 is not there/);
  const other = [{ member: 'ann', whole: false, events: [{ id: 'x', sequence: 1 }] }];
  t.match(feedsWhole(other, feed).join(), /read as 1 is not there/);
});

t.test('a feed with a gap is found, whoever read it', async (t) => {
  t.match(feedsWhole([], logFacts({ feed: rows(1, 3) })).join(), /3 stands at 2/);
});
