import t from 'tap';
import { excerptAround, findHits, splitAtParts } from '../../web/console/words/hits.ts';

const splitAtHits = (text: string, query: string): string[] =>
  splitAtParts(text, findHits(text, query)).map((part) => text.slice(...part));

t.test('finds what the search finds, in any case and however it is composed', (t) => {
  t.same(splitAtHits('Money, MONEY', 'money'), ['Money', ', ', 'MONEY']);
  t.same(splitAtHits('un cafe\u0301 noir', 'CAFÉ'), ['un ', 'cafe\u0301', ' noir']);
  t.same(splitAtHits('ｍｏｎｅｙ', 'money'), ['ｍｏｎｅｙ']);
  t.same(
    splitAtHits('a ﬁne day', 'fi'),
    ['a ', 'ﬁ', 'ne day'],
    'a part of a ligature is all of it',
  );
  t.same(splitAtHits('İİ x', 'x'), ['İİ ', 'x'], 'letters that grow when they are folded');
  t.same(splitAtHits('It’s O’Brien', "o'brien"), ['It’s ', 'O’Brien']);
  t.same(splitAtHits('Café or money', 'money cafe'), ['Café', ' or ', 'money']);
  t.same(findHits('nothing', 'money'), []);
  t.same(splitAtHits('nothing', ''), ['nothing']);
  t.same(splitAtHits('', 'money'), []);
  t.end();
});

t.test('splits a text where parts that overlap begin and end', (t) => {
  const parts = splitAtParts('abcdef', [
    [1, 4],
    [3, 5],
    [3, 5],
  ]);
  t.same(parts, [
    [0, 1],
    [1, 3],
    [3, 4],
    [4, 5],
    [5, 6],
  ]);
  t.end();
});

t.test('shows the part of a text around its first hit', (t) => {
  const far = `${'words '.repeat(30)}and then the money is here`;
  t.equal(excerptAround(far, 'money', 140), '…words words and then the money is here');
  t.equal(excerptAround(far, '', 12), 'words words ');
  t.equal(excerptAround('the money', 'money', 140), 'the money');
  t.match(excerptAround(`${'😀'.repeat(80)}money`, 'money', 140), /^…😀{30}money$/u);
  t.end();
});
