import t from 'tap';
import { textContent } from '../../platform/http/page-headers.ts';
import { keepBytes } from '../../services/pages/site/shared-replies.ts';

/** Keeps documents, and counts how often each was made. */
function counted(most?: number) {
  const bytesOf = keepBytes(most);
  const made: string[] = [];
  const ask = (name: string, shown: unknown) =>
    bytesOf(name, shown, () => {
      made.push(name);
      return textContent('text/html', JSON.stringify(shown));
    });
  return { ask, made };
}

t.test('makes a document once for the same data', (t) => {
  const { ask, made } = counted();
  const first = ask('/', { notes: ['a'] });
  t.equal(ask('/', { notes: ['a'] }), first);
  t.same(made, ['/']);
  t.end();
});

t.test('makes a document again for other data, also for data of before', (t) => {
  const { ask } = counted();
  ask('/', { notes: ['a'] });
  t.equal(ask('/', { notes: ['b'] }).bytes, '{"notes":["b"]}');
  t.equal(ask('/', { notes: ['a'] }).bytes, '{"notes":["a"]}');
  t.end();
});

t.test('keeps the documents that were asked for last', (t) => {
  const { ask, made } = counted(2);
  for (const name of ['/', '/cases', '/', '/members', '/', '/cases']) ask(name, name);
  t.same(made, ['/', '/cases', '/members', '/cases']);
  t.end();
});
