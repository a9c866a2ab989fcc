import t from 'tap';
import { withinWords } from '../../services/pages/site/usual-wait.ts';

const HOUR = 3600;

t.test('says how long a review usually takes in whole hours or days, rounded up', (t) => {
  const words = (seconds: number) => withinWords(seconds);
  t.equal(words(0), 'within an hour');
  t.equal(words(HOUR), 'within an hour');
  t.equal(words(HOUR + 1), 'within 2 hours');
  t.equal(words(23 * HOUR), 'within 23 hours');
  t.equal(words(23 * HOUR + 1), 'within a day');
  t.equal(words(24 * HOUR), 'within a day');
  t.equal(words(24 * HOUR + 1), 'within 2 days');
  t.equal(words(72 * HOUR), 'within 3 days');
  t.end();
});
