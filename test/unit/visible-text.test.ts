import fc from 'fast-check';
import t from 'tap';
import { z } from 'zod';
import { Text } from '../../platform/http/schemas.ts';
import {
  guestName,
  hasVisibleText,
  splitAtInvisible,
  stripInvisible,
  toLine,
} from '../../platform/visible-text.ts';

const INVISIBLE: Record<string, string> = {
  'nothing at all': '',
  'white space': ' \t\n\u00a0\u1680\u2000\u2028\u202f\u205f\u3000',
  'the soft hyphen': '\u00ad',
  'the zero width space': '\u200b',
  'the zero width joiner': '\u200d',
  'the byte order mark': '\ufeff',
  'invisible operators': '\u2061\u2062\u2063\u2064',
  'direction controls': '\u061c\u200e\u202e\u2066\u2069',
  'the Mongolian vowel separator': '\u180e',
  'Hangul fillers': '\u115f\u1160\u3164\uffa0',
  'the Braille blank': '\u2800',
  'variation selectors': '\ufe0e\ufe0f\u180b\u{e0100}',
  'tag characters': '\u{e0001}\u{e0041}\u{e007f}',
  'combining marks without a base': '\u0301\u0308\u20dd',
  'marks after a joiner': '\u200d\u0301',
  'interlinear annotations': '\ufff9\ufffa\ufffb',
  'the object replacement character': '\ufffc',
  'a null notehead': '\u{1d159}',
  'blank hieroglyphs': '\u{13441}\u{13442}',
  'private use': '\ue000\u{f0000}',
  'unassigned code points': '\u0378\u{1fffe}',
};

const VISIBLE = [
  'a',
  '7',
  '.',
  '€',
  'é',
  'e\u0301',
  '\u200b.',
  '👋',
  '👩\u200d🚀',
  '\u2764\ufe0f',
  '🏳\ufe0f',
  '´',
  '漢',
  '\u3164가',
  'م',
  '\u2801',
  '\ufffd',
  '𒀀',
];

t.test('recognises text without a visible character', async (t) => {
  for (const [name, text] of Object.entries(INVISIBLE)) {
    t.notOk(hasVisibleText(text), name);
    for (const character of text)
      t.notOk(hasVisibleText(character), `${name}: ${escape(character)}`);
    t.equal(guestName(text), 'Guest', name);
  }
  t.notOk(hasVisibleText(Object.values(INVISIBLE).join('')), 'all of them together');
});

t.test('treats every letter, number, punctuation mark or symbol as visible', async (t) => {
  for (const text of VISIBLE) {
    t.ok(hasVisibleText(text), text);
    t.equal(guestName(text), text);
  }
});

const invisible = fc
  .array(fc.constantFrom(...Object.values(INVISIBLE).flatMap((text) => [...text])))
  .map((characters) => characters.join(''));

t.test('ignores invisible characters around a text', async () => {
  fc.assert(
    fc.property(invisible, fc.string({ unit: 'grapheme' }), invisible, (before, text, after) => {
      if (hasVisibleText(before + text + after) !== hasVisibleText(text)) throw new Error(text);
    }),
  );
});

t.test('requires a visible character, and its pattern matches accepted texts', async () => {
  const schema = Text(1, 500);
  const { pattern = '' } = z.toJSONSchema(schema);
  const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
  const texts = fc.oneof(invisible, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(fc.tuple(invisible, texts), ([before, after]) => {
      const text = before + after;
      const accepted = schema.safeParse(text).success;
      if (accepted && !hasVisibleText(text)) throw new Error('accepted, but shows nothing');
      if (accepted && !(plain.test(text) && unicode.test(text)))
        throw new Error('accepted, but does not fit the documented pattern');
    }),
  );
});

t.test('allows an optional text to be invisible', async (t) => {
  for (const text of Object.values(INVISIBLE)) t.ok(Text(0, 500).safeParse(text).success);
});

t.test('shortens a text to one line without characters that hide others', async (t) => {
  t.equal(toLine(' One\n\n two\tthree ', 20), 'One two three');
  t.equal(toLine('exactly ten', 11), 'exactly ten');
  t.equal(toLine('exactly ten', 10), 'exactly t…');
  t.equal(toLine('a cut after a space', 6), 'a cut…', 'no space before the ellipsis');
  t.equal(toLine('🌍🌍🌍', 2), '🌍…', 'no half of a character');
  t.equal(toLine('\u202eevil\u2066', 20), 'evil');
  t.equal(toLine('👩\u200d🚀', 20), '👩\u200d🚀', 'an emoji keeps its joiner');
});

const tags = (letters: string) =>
  [...letters].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const flag = (region: string) => `\u{1f3f4}${tags(region)}\u{e007f}`;

const NEEDED: Record<string, string> = {
  'flags of England, Scotland and Wales': `Go ${flag('gbeng')} ${flag('gbsct')}${flag('gbwls')}!`,
  'Hebrew with LRM': 'אני אוהב C++\u200e מאוד וגם C#\u200e',
  'Hebrew with RLM': 'שלום (hello)\u200f, עולם!\u200f',
  'Arabic with ALM': '\u061c١٢/٣ يوم',
  'Persian with ZWNJ': 'می\u200cخواهم کتاب\u200cها را بخوانم',
  'Hindi with ZWJ': 'क्\u200dष और र्\u200dय',
  'Thai with ZWSP': 'สวัสดี\u200bชาวโลก',
  'Khmer with ZWSP': 'ខ្ញុំ\u200bស្រឡាញ់\u200bភាសា\u200bខ្មែរ',
  'Mongolian with MVS and FVS': 'ᠨᠠᠭᠠᠨ\u180eᠠ ᠪᠠᠭ\u180bᠠ',
  'jamo with fillers': '\u115f\u1161 \u1100\u1160 \u115f\u1160\u11a8',
  emoji: '👩🏽\u200d🚀 ❤\ufe0f 1\ufe0f\u20e3 ☎\ufe0e',
};

const LEFT_OUT: Record<string, [written: string, shown: string]> = {
  'an override': ['invoice\u202efdp.exe\u202c', 'invoicefdp.exe'],
  'embeddings and isolates': ['\u202aa\u202bb\u2066c\u2067d\u2068e\u2069', 'abcde'],
  'stray tags': [`hi${tags('secret')}\u{e007f}\u{e0001}`, 'hi'],
  'tags that spell no flag': [flag('xx'), '\u{1f3f4}'],
  'the beginning of a flag': [`\u{1f3f4}${tags('gbeng')}`, '\u{1f3f4}'],
  'fillers without jamo': ['a\u115f\u1160\u115f\u3164\uffa0b', 'ab'],
  others: ['a\u00adb\u034fc\u2060d\ufeffe\u2064f\ufff9g\u17b4h', 'abcdefgh'],
};

t.test('keeps the invisible characters that scripts and emoji need', async (t) => {
  for (const [name, text] of Object.entries(NEEDED)) {
    t.equal(stripInvisible(text), text, name);
    t.equal(toLine(text, 100), text, name);
    t.same(splitAtInvisible(text), [text], name);
  }
});

t.test('leaves out invisible characters that can move or hide others', async (t) => {
  for (const [name, [written, shown]] of Object.entries(LEFT_OUT)) {
    t.equal(stripInvisible(written), shown, name);
    t.equal(toLine(written, 100), shown, name);
  }
});

t.test('splits a text at exactly what it leaves out', async () => {
  const special = fc.constantFrom(...Object.values(NEEDED), ...Object.values(LEFT_OUT).flat());
  const texts = fc.array(fc.oneof(special, invisible, fc.string({ unit: 'binary' })));
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join('');
      const split = splitAtInvisible(text);
      const shown = split.filter((_, index) => index % 2 === 0).join('');
      if (split.join('') !== text) throw new Error('a part is missing');
      if (shown !== stripInvisible(text)) throw new Error('another rule');
    }),
  );
});
