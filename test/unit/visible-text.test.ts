import fc from 'fast-check';
import t from 'tap';
import { z } from 'zod';
import { Text } from '../../platform/http/schemas.ts';
import { guestName, hasVisibleText, toLine } from '../../platform/visible-text.ts';

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
