import t from 'tap';
import { languageOf } from '../../platform/language.ts';

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  ja: [
    '私は東京に住んでいます',
    'テスト',
    'ありがとう!',
    'React と TypeScript で書きました。とても楽しい',
  ],
  zh: ['今天的天气非常好，我们一起去公园散步吧。'],
  ko: ['안녕하세요', '大韓民國은 民主共和國이다'],
  th: ['สวัสดีชาวโลก'],
  he: ['אני אוהב C++ מאוד', 'שלום'],
  el: ['Καλημέρα κόσμε'],
  'und-Arab': ['مرحبا، كيف حالك؟', 'سلام دنیا', 'ہیلو'],
  'und-Cyrl': ['Привет, мир', 'Здравей'],
  'und-Deva': ['नमस्ते दुनिया।'],
  'und-Hani': ['東京', '山田太郎', '北京，上海'],
};

t.test('names the language that a script proves, and else the script', async (t) => {
  for (const [language, texts] of Object.entries(KNOWN))
    for (const text of texts) t.equal(languageOf(text), language, text);
});

t.test('says nothing of Latin, mixed and wordless texts', async (t) => {
  for (const text of [
    '',
    'Hello',
    'Größe, naïveté, Łódź',
    '12:30 €5 🎉 → ∞',
    '¯\\_(ツ)_/¯',
    'Δx and π',
    'The word for world is мир',
    'Привет means hello to many',
    '\u200b\u3164',
  ])
    t.equal(languageOf(text), undefined, text);
});

t.test('looks at the beginning of a long text alone', async (t) => {
  t.equal(languageOf(`${'a'.repeat(1000)}${'ж'.repeat(100_000)}`), undefined);
  t.equal(languageOf('ж'.repeat(100_000)), 'und-Cyrl');
});

t.test('gives tags that are well formed', async (t) => {
  for (const tag of Object.keys(KNOWN)) t.same(Intl.getCanonicalLocales(tag), [tag]);
});
