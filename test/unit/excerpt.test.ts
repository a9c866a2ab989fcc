import t from 'tap';
import { parseQuery } from '../../platform/words.ts';
import { createExcerpts } from '../../services/search/excerpt.ts';

t.test('an excerpt is from around the first hit, in the first text that has one', (t) => {
  const toExcerpt = createExcerpts(parseQuery('needle'));
  t.same(toExcerpt(['hay', 'a needle in hay']), { excerpt: 'a needle in hay', marks: [[2, 6]] });
  t.same(toExcerpt([null, 'hay']), { excerpt: '', marks: [] });
  t.end();
});

t.test('the excerpts of a page look through a bounded amount of text', (t) => {
  const toExcerpt = createExcerpts(parseQuery('needle'));
  const long = `${'hay '.repeat(1000)}needle`;
  const excerpts = Array.from({ length: 50 }, () => toExcerpt([long]));
  const marked = excerpts.filter(({ marks }) => marks.length > 0);
  t.ok(marked.length >= 10 && marked.length < 15, `${marked.length} have marks`);
  t.match(excerpts.at(-1), { excerpt: /^hay hay/, marks: [] });
  t.end();
});
