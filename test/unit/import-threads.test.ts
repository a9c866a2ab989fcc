import fc from 'fast-check';
import t from 'tap';
import { foldThreads, type Threaded } from '../../cli/import/threads.ts';

const comment = (ref: string, parent: string | null, imported = true): Threaded => ({
  ref,
  parent,
  imported,
});

function fold(comments: readonly Threaded[]): Record<string, [string | null, string | null]> {
  const places = [...foldThreads(comments)];
  return Object.fromEntries(
    places.map(([{ ref }, { root, moved }]) => [ref, [root?.ref ?? null, moved]]),
  );
}

t.test('makes a reply to a reply a reply to the first comment', async (t) => {
  const folded = fold([
    comment('d', 'c'),
    comment('a', null),
    comment('b', 'a'),
    comment('c', 'b'),
  ]);
  t.same(folded, { a: [null, null], b: ['a', null], c: ['a', 'folded'], d: ['a', 'folded'] });
});

t.test('moves replies up whose parent is missing or is not imported', async (t) => {
  const folded = fold([
    comment('deleted', null, false),
    comment('a', 'deleted'),
    comment('b', 'a'),
    comment('lost', 'unknown'),
    comment('top', null),
    comment('spam', 'top', false),
    comment('c', 'spam'),
  ]);
  t.same(folded, {
    a: [null, 'parent missing'],
    b: ['a', null],
    lost: [null, 'parent missing'],
    top: [null, null],
    c: ['top', 'folded'],
  });
});

t.test('puts comments that are their own ancestors at the top', async (t) => {
  const folded = fold([
    comment('self', 'self'),
    comment('x', 'y'),
    comment('y', 'x'),
    comment('z', 'y'),
    comment('zz', 'z'),
  ]);
  t.same(folded, {
    self: [null, 'circle'],
    x: [null, 'circle'],
    y: [null, 'circle'],
    z: ['y', null],
    zz: ['y', 'folded'],
  });
});

t.test('folds a chain of many replies in time in proportion to its length', async (t) => {
  const chain = Array.from({ length: 200_000 }, (_, at) =>
    comment(`${at}`, at === 0 ? null : `${at - 1}`),
  ).reverse();
  const places = [...foldThreads(chain).values()];
  t.equal(places.filter(({ moved }) => moved === 'folded').length, 199_998);
});

t.test('leaves no reply to a reply for any parents', async () => {
  const files = fc.array(
    fc.record({ parent: fc.option(fc.nat(12), { nil: null }), imported: fc.boolean() }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(files, (given) => {
      const comments = given.map(({ parent, imported }, at) =>
        comment(`${at}`, parent === null ? null : `${parent}`, imported),
      );
      const places = foldThreads(comments);
      if (places.size !== comments.filter(({ imported }) => imported).length) return false;
      return [...places.values()].every(
        ({ root }) => root === null || (root.imported && places.get(root)?.root === null),
      );
    }),
  );
});
