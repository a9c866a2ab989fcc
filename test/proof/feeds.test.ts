import t from 'tap';
import { feedsWhole } from '../../proof/rules/feeds.ts';
import { logFacts } from '../support/histories.ts';

const rows = (...sequences: number[]) =>
  sequences.map((sequence) => ({ member: 'ann', sequence, id: `e${sequence}` }));
const seen = (whole: boolean, ...sequences: number[]) => [
  { member: 'ann', whole, events: sequences.map((sequence) => ({ id: `e${sequence}`, sequence })) },
];
const feed = logFacts({ feed: rows(1, 2, 3) });

t.test('accepts a feed read to its end or to some point', async (t) => {
  t.same(feedsWhole(seen(true, 1, 2, 3), feed), []);
  t.same(feedsWhole(seen(false, 1, 2), feed), []);
});

t.test('finds an event that was missed, repeated or out of order', async (t) => {
  t.match(feedsWhole(seen(false, 1, 3), feed).join(), /read 3 as the 2th/);
  t.match(feedsWhole(seen(false, 1, 1), feed).join(), /read 1 as the 2th/);
  t.match(feedsWhole(seen(false, 2, 1), feed).join(), /read 2 as the 1th/);
  t.match(feedsWhole(seen(true, 1, 2), feed).join(), /3 events, 2 were read/);
});

t.test('finds an event that was read but is missing or another', async (t) => {
  t.match(feedsWhole(seen(false, 1, 2, 3, 4), feed).join(), /read as 4 is not there/);
  const other = [{ member: 'ann', whole: false, events: [{ id: 'x', sequence: 1 }] }];
  t.match(feedsWhole(other, feed).join(), /read as 1 is not there/);
});

t.test('finds a gap in a feed, even in an unread one', async (t) => {
  t.match(feedsWhole([], logFacts({ feed: rows(1, 3) })).join(), /3 stands at 2/);
});
