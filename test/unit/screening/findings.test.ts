import fc from 'fast-check';
import t from 'tap';
import { type FindingCode, toBand } from '../../../domain/screening/rules.ts';
import { findingsIn } from '../../../services/screening/findings.ts';
import { fold, foldedWords } from '../../../services/screening/folded.ts';
import { toSentence } from '../../../services/screening/sentences.ts';

const describe = (message: string, name = '') => {
  const { findings, words } = findingsIn({ name, message });
  return findings.map((finding) => toSentence(finding, words[finding.code]));
};

const HONEST: Record<string, string> = {
  English: 'What a lovely page! I read it twice, 12 out of 10. Greetings from Scunthorpe.',
  German: 'Grüße aus Köln, die Straße ist weiß – schöne Seite, weiter so!',
  Turkish: 'İstanbul’dan selamlar, ışık çok güzel.',
  Greek: 'Καλημέρα κόσμε, η σελίδα σας είναι υπέροχη.',
  Russian: 'Спасибо за сайт! Очень интересно было почитать.',
  Ukrainian: 'Дякую, дуже цікаво – чекаю на продовження.',
  Hebrew: 'שלום לכולם \u200Fזה אתר נהדר\u200E, תודה.',
  Arabic: 'مرحبا بكم، موقع رائع جدا. شكرا لكم على كل شيء.',
  Persian: 'می\u200Cخواهم تشکر کنم، کتاب\u200Cها عالی بودند.',
  Hindi: 'नमस्ते, यह बहुत अच्छा पृष्ठ है। क्\u200Dष धन्यवाद।',
  Thai: 'สวัสดีครับ เว็บไซต์นี้ดีมากและอ่านสนุกจริงๆ ขอบคุณสำหรับทุกอย่างที่คุณทำให้พวกเรานะครับ',
  Chinese:
    '你好,这个网站非常好,我会常来看看,谢谢你们的努力,希望以后能看到更多这样的内容,祝大家身体健康万事如意',
  Japanese: 'とても素敵なサイトですね。Tシャツも欲しいです。また来ます!',
  Korean: '안녕하세요, 정말 멋진 사이트네요. 자주 들를게요.',
  Georgian: 'გამარჯობა, ძალიან კარგი საიტია.',
  emoji: 'Hi 👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ 🇩🇪 1️⃣',
  units: 'About 5 µm at 20 °C, costs 3 € or 12.50, since 1998.',
  numbers: 'ISBN 978-3-16-148410-0 was printed in 2019-2020, version 10.4.1.',
  dates: 'Written 2002-09-10 08:45, again 10/4/2028 12:05:01 -0400, and 20020912.',
  symbols: 'åß∂ƒ©˙∆˚¬…æ und viel Spaß',
  rulers: `One\n${'-'.repeat(60)}\nTwo ...... three\n${'='.repeat(60)}`,
};

t.test('finds nothing in honest texts of many scripts', async (t) => {
  for (const [kind, text] of Object.entries(HONEST)) t.strictSame(describe(text), [], kind);
});

const FOUND: [message: string, ...sentences: string[]][] = [
  ['see https://example.org and example.com/a', '2 links'],
  ['a.com b.com c.com d.com', '4 links'],
  ['http://10.0.0.1/x', '1 link', 'link to a number instead of a name: 1'],
  ['http://2130706433/', '1 link', 'link to a number instead of a name: 1'],
  ['https://xn--80ak6aa92e.com/', '1 link', 'link whose address may pass for another: 1'],
  ['https://bank.example@evil.example/', '1 link', 'link with a user name in it: 1'],
  ['write to ada@example.org', '1 e-mail address'],
  ['call +49 (30) 1234-5678 or 0301234567', '2 telephone numbers'],
  ['<a href="x">y</a> [url=z] <sigh> <ada>', 'HTML or forum markup: 3 tags'],
  ['what the f\u00ADu\u0301ck', 'profanity: 1 word, read as “fuck”', '1 invisible character'],
  [
    'ｆｕｃｋ this',
    'profanity: 1 word, read as “fuck”',
    'letters in a disguise: 4, read as “fuck”',
  ],
  ['Pаypal is safe', 'mixed scripts in one word'],
  ['ρay раy', 'mixed scripts in 2 words'],
  ['𝓕𝓻𝓮𝓮 stuff', 'letters in a disguise: 4, read as “free”'],
  ['abc\u202Edef\u202C', '2 direction characters'],
  ['abc\u200Fdef', '1 direction character'],
  ['in\u200Bvis\u2060ible a\u200Db', '3 invisible characters'],
  ['Z\u0300\u0301\u0302\u0303\u0304a\u0316lgo', 'marks heaped on a letter: 1'],
  [`${'pneumono'.repeat(6)} is long`, '1 very long word'],
  ['sooooooo good!!!!!!!', 'one character over and over: 2'],
  ['5h1t happens, but 455 does not', 'profanity: 1 word'],
  ['buy buy buy buy buy now', 'one word 5 times'],
  ['THIS IS VERY IMPORTANT, READ', '100 % capitals'],
  ['ЭТО ОЧЕНЬ ВАЖНО, ЧИТАЙТЕ', '100 % capitals'],
];

t.test('describes findings in words', async (t) => {
  for (const [message, ...sentences] of FOUND) t.strictSame(describe(message), sentences, message);
  t.strictSame(describe('hello', 'visit example.com'), ['1 link'], 'the name is screened as well');
});

t.test('keeps the words of a finding as written, and their places', async (t) => {
  t.strictSame(findingsIn({ name: '', message: 'Oh SHIT' }), {
    findings: [{ code: 'profanity', count: 1 }],
    words: { profanity: ['SHIT'] },
    spans: { profanity: [[3, 7]] },
  });
});

const LOCATED: [message: string, code: FindingCode, ...words: string[]][] = [
  ['glass, ass and ÅSS', 'profanity', 'ass', 'ÅSS'],
  ['😀 e\u0301 what the f\u00ADu\u0301ck!', 'profanity', 'f\u00ADu\u0301ck'],
  ['ﷺ 😀 5h1t', 'profanity', '5h1t'],
  ['한국 shit', 'profanity', 'shit'],
  ['😀 see https://a.example/ü and b.org.', 'links', 'https://a.example/ü', 'b.org'],
  ['write to ada@example.org', 'email', 'ada@example.org'],
  ['a.example, call +49 (30) 1234-5678', 'phone', '+49 (30) 1234-5678'],
  ['[b]bold[/b]', 'markup', '[b]', '[/b]'],
  ['e\u0301 Pаypal is safe', 'mixed_scripts', 'Pаypal'],
  ['so 𝓕𝓻𝓮𝓮 and 𝓮', 'styled_letters', '𝓕𝓻𝓮𝓮', '𝓮'],
  ['a\u200Bb', 'invisible', '\u200B'],
  ['so Z\u0300\u0301\u0302\u0303\u0304a', 'stacked_marks', 'Z\u0300\u0301\u0302\u0303\u0304'],
  [`so ${'pneumono'.repeat(6)}!`, 'long_word', `${'pneumono'.repeat(6)}!`],
  ['e\u0301 sooooooo', 'repeated_characters', 'ooooooo'],
];

t.test('locates the parts of a message that a finding refers to', async (t) => {
  for (const [message, code, ...expected] of LOCATED) {
    const { words, spans } = findingsIn({ name: 'shit', message });
    const places = (spans[code] ?? []).map(([start, end]) =>
      [...message].slice(start, end).join(''),
    );
    t.strictSame(places, expected, message);
    t.match(words[code], expected);
  }
});

t.test('finds no invisible characters where a script needs them', async (t) => {
  for (const message of ['สวัสดี\u200Bชาวโลก', 'ខ្ញុំ\u200Bស្រឡាញ់', 'ᠨᠠᠭᠠᠨ\u180Eᠠ', 'می\u200Cخواهم'])
    t.strictSame(findingsIn({ name: '', message }).findings, [], message);
  t.match(findingsIn({ name: '', message: 'a\u180Eb' }).findings, [{ code: 'invisible' }]);
});

t.test('gives no place for what is in the name', async (t) => {
  const { findings, words, spans } = findingsIn({ name: 'Shit', message: 'Hello' });
  t.strictSame(findings, [{ code: 'profanity', count: 1 }]);
  t.strictSame(words, { profanity: ['Shit'] });
  t.strictSame(spans, {});
});

t.test('assigns bands by points', async (t) => {
  t.equal(toBand([]), 'clear');
  t.equal(toBand([{ code: 'same_as_approved' }]), 'clear');
  t.equal(toBand([{ code: 'links' }]), 'look');
  t.equal(toBand([{ code: 'many_links' }, { code: 'markup' }]), 'likely_spam');
  t.equal(toBand([{ code: 'same_as_rejected' }]), 'likely_spam');
});

t.test('folds equal words to equal text', async (t) => {
  t.equal(fold('  Straße\u200B\n\tＦÜR  Ǆ '), 'strasse fur dz');
  t.equal(fold('ΟΔΟΣ οδος οδός'), 'οδοσ οδοσ οδοσ');
  t.equal(fold('İIıi'), 'iiii');
  t.equal(fold('한국'), '한국');
  t.strictSame(foldedWords("It's 2 ca\u0301fe\u0301s"), ["It's", '2', 'cáfés']);
  t.ok(foldedWords('你好世界').length > 1);
});

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.string({ unit: 'grapheme', maxLength: 600 }),
  fc.string({
    unit: fc.constantFrom(
      'http://',
      'www.',
      '.com',
      '@',
      '<a',
      '[url=',
      '-',
      ' ',
      '1',
      'a',
      '\u0301',
      '\u200D',
      '\uD800',
      'ﷺ',
      'fuck',
      'а',
      'ß',
    ),
    maxLength: 300,
  }),
);

t.test('never throws and reports only known findings, for any text', async (t) => {
  fc.assert(
    fc.property(hostileText, hostileText, (name, message) => {
      const { findings, words, spans } = findingsIn({ name, message });
      for (const { code, count } of findings)
        if (!Number.isSafeInteger(count) || count < 1 || !toSentence({ code, count }))
          throw new Error(code);
      for (const code of Object.keys({ ...words, ...spans }))
        if (!findings.some((finding) => finding.code === code)) throw new Error(code);
      for (const word of Object.values(words).flat())
        if (word === '' || !word.isWellFormed()) throw new Error(`not a word: ${word}`);
      const length = [...message].length;
      for (const [start, end] of Object.values(spans).flat())
        if (start >= end || end > length) throw new Error(`${start} to ${end} of ${length}`);
    }),
    { numRuns: 500 },
  );
  t.pass();
});
