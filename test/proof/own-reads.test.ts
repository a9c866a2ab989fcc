import t from 'tap';
import { ownWritesRead } from '../../proof/rules/feeds.ts';

t.test('finds a read that lacks what its reader has written', async (t) => {
  const path = '/api/v1/cases/c';
  const read = (version: number) => ownWritesRead([{ path, written: 3, read: version }]);
  t.same(read(2), ['GET /api/v1/cases/c: version 2 after its reader had written 3']);
  t.same(read(3), []);
  t.same(read(4), [], 'another member wrote meanwhile');
});
