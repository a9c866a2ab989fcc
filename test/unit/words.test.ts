import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { findWords, parseQuery, splitWords } from '../../platform/words.ts';

const words = (text: string) => splitWords(text).map((word) => word.text);

t.test('splits a text at everything but letters, numbers and marks', (t) => {
  t.same(words('It’s great—really'), ['it', 's', 'great', 'really']);
  t.same(words('«bonjour»,foo→bar😀50€'), ['bonjour', 'foo', 'bar', '50']);
  t.same(words(''), []);
  t.end();
});

t.test('folds case, width, accents and invisible characters', (t) => {
  t.same(words('ｃａｆé cafe\u0301 CAFÉ'), ['cafe', 'cafe', 'cafe']);
  t.same(words('Straße ΟΔΟΣ İı Łódź'), ['strasse', 'οδοσ', 'ii', 'lodz']);
  t.same(words('مُحَمَّد مـحمد'), ['محمد', 'محمد']);
  t.same(words('می\u200cخواهم so\u00adft'), ['میخواهم', 'soft']);
  t.end();
});

t.test('splits scripts without spaces into pairs', (t) => {
  t.same(words('東京タワー'), ['東京', '京タ', 'タワ', 'ワー', 'ー']);
  t.same(words('iPhoneを'), ['iphone', 'を']);
  t.same(words('\u1112\u1161\u11ab글'), ['한글', '글'], 'jamo are composed');
  t.end();
});

t.test('reads quotes, exclusions and alternatives', (t) => {
  const phrase = (...list: string[]) => ({ words: list, prefix: false });
  t.same(parseQuery("“two words” -bad or o'brien"), [
    { all: [phrase('two', 'words')], none: [phrase('bad')] },
    { all: [phrase('o', 'brien')], none: [] },
  ]);
  for (const query of ['handle', '@handle', '"handle"', ' " handle " ', 'handle or', '--handle'])
    t.same(parseQuery(query), [{ all: [phrase('handle')], none: [] }], query);
  t.same(parseQuery('京'), [{ all: [{ words: ['京'], prefix: true }], none: [] }]);
  for (const query of ['', '!?', '🎉', '-', 'or', '""']) t.same(parseQuery(query), [], query);
  t.end();
});

t.test('finds the words in a text', (t) => {
  const found = (text: string, query: string) =>
    findWords(text, parseQuery(query)).map((part) => text.slice(...part));
  t.same(found('un cafe\u0301 noir', 'café'), ['cafe\u0301']);
  t.same(found('私は東京に', '東京'), ['東京']);
  t.same(found('money, MONEY', 'money -noir'), ['money', 'MONEY']);
  t.same(found('nothing', 'money'), []);
  t.end();
});

t.test('normalizes no long run of marks', (t) => {
  const lengths: number[] = [];
  const { normalize } = String.prototype;
  const text = `x${'\u094d'.repeat(2000)}${'\u093c'.repeat(2000)} ${'\u1112'.repeat(2000)}`;
  t.intercept(String.prototype, 'normalize', {
    value(this: string, form: string) {
      lengths.push(this.length);
      return normalize.call(this, form);
    },
  });
  splitWords(text);
  t.ok(lengths.length > 0 && Math.max(...lengths) < 200, `normalized ${Math.max(...lengths)}`);
  t.end();
});

t.test('compares each word of a text once with a word that a query repeats', (t) => {
  let reads = 0;
  const all = Array.from({ length: 100 }, () => ({
    get words() {
      reads++;
      return ['a'];
    },
    prefix: false,
  }));
  t.equal(findWords('a '.repeat(2000), [{ all, none: [] }]).length, 2000);
  t.ok(reads < 20_000, `${reads} reads of a phrase`);
  t.end();
});

/**
 * If this fails after an upgrade of Node.js, its Unicode data splits some texts in another way than
 * before: add a migration that sets `words` to null, so that the worker writes the words again.
 */
t.test('splits all of Unicode as the stored words were split', (t) => {
  const digest = createHash('sha256');
  // Planes 4 to 13 are not assigned, and planes 15 and 16 are private.
  for (let point = 0; point < 0xf0000; point++)
    if ((point < 0xd800 || point > 0xf8ff) && (point < 0x40000 || point >= 0xe0000))
      digest.update(words(`a${String.fromCodePoint(point)}a`).join(' '));
  t.equal(digest.digest('hex'), 'c96e80eb6516834784cbeaaa25cf249c689cb0ad199f11341b62d32cc0d05218');
  t.end();
});

t.test('keeps no letters with hundreds of marks in memory', (t) => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const memoryInUse = () => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = memoryInUse();
  for (let point = 0x4e00; point < 0x4e00 + 5000; point++)
    splitWords(String.fromCodePoint(point) + '\u0903'.repeat(199));
  const growth = memoryInUse() - before;
  t.ok(growth < 10_000_000, `memory use grows by ${growth} bytes`);
  t.end();
});
