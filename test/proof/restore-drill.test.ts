import t from 'tap';
import { compare } from '../../proof/restore-drill.ts';

t.test('describes every entry in which a record differs from the feed', async (t) => {
  const entries = (...ids: string[]) => ids.map((id, index) => ({ id, sequence: index + 1 }));
  t.same(compare(entries('a', 'b'), entries('a', 'b')), []);
  t.same(compare(entries('a', 'lost'), entries('a', 'b', 'c')), [
    'entry 2 is b, lost was recorded',
    'entry 3 is c, nothing was recorded',
  ]);
  t.same(compare(entries('a', 'b'), entries('a')), ['entry 2 is none, b was recorded']);
});
