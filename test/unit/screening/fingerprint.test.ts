import { randomBytes } from 'node:crypto';
import t from 'tap';
import { keyRing } from '../../../platform/keys/key-ring.ts';
import type { LookAlikeRow } from '../../../projections/screening/screenings.ts';
import { likeness, toFingerprints, toShingles } from '../../../services/screening/fingerprint.ts';
import { lookAlikeFindings } from '../../../services/screening/look-alikes.ts';
import { toSentence } from '../../../services/screening/sentences.ts';

const key = (id: number) => ({ id, secret: randomBytes(32) });
const old = key(1);
const keys = keyRing([old]);
const print = (text: string) =>
  toFingerprints(keys, text)[0] ?? { key_id: 0, whole: '', parts: [] };
const LONG =
  'Greetings from the seaside, where the weather is fine and the ice cream is better still.';

t.test('gives equal words the same fingerprint, whatever their disguise', async (t) => {
  t.equal(print('Free  GIFTS!').whole, print('free\u200B gıfts!').whole);
  t.equal(print('你好').whole, print('你好').whole);
  t.equal(print('null').whole, print(' nu\u200Bll').whole);
  t.not(print('null').whole, print('NULL').whole, 'one short word counts as written');
  t.not(print('åß∂ƒ').whole, print('ass∂ƒ').whole, 'symbols are not the letters they fold to');
  t.not(print('Free gifts!').whole, print('Free gift!').whole);
  t.not(print('\u202E').whole, print('\u200B').whole, 'empty folded texts do not match');
});

t.test('shares a part between similar long texts, and has no parts for short ones', async (t) => {
  const { parts } = print(LONG);
  t.equal(parts.length, 8);
  for (const other of [
    `${LONG} Ada`,
    LONG.replace('seaside', 'mountains'),
    LONG.toUpperCase().replaceAll(' ', '  '),
  ])
    t.ok(
      print(other).parts.some((part) => parts.includes(part)),
      other,
    );
  t.notOk(print(LONG.split('').reverse().join('')).parts.some((part) => parts.includes(part)));
  t.strictSame(print('Hello').parts, []);
});

t.test('depends on the key, and an older key still matches', async (t) => {
  const [newest, oldest] = toFingerprints(keyRing([key(2), old]), LONG);
  t.strictSame(oldest, print(LONG));
  t.not(newest?.whole, oldest?.whole);
  t.notOk(newest?.parts.some((part) => oldest?.parts.includes(part)));
});

t.test('measures likeness as the share of common pieces', async (t) => {
  t.equal(likeness(toShingles(LONG), toShingles(LONG)), 1);
  t.equal(likeness(toShingles(LONG), toShingles('Совсем другой текст о коровах')), 0);
  t.equal(likeness(new Set(), new Set()), 0);
});

t.test('counts look-alikes by their decisions', async (t) => {
  const note = (state: string, message: string | null): LookAlikeRow => ({
    note_id: String(Math.random()),
    state,
    same: message === null,
    message,
  });
  const near = LONG.replace('fine', 'grey');
  const twice = note('rejected', null);
  const findings = lookAlikeFindings(LONG, [
    twice,
    { ...twice, same: false, message: LONG },
    note('removed', null),
    note('withdrawn', null),
    note('pending', near),
    note('approved', near),
    note('approved', near),
    note('approved', 'Something else that shares a part by chance'),
  ]);
  t.strictSame(
    findings.map((finding) => toSentence(finding)),
    ['same text as 2 rejected notes', 'like 1 waiting note', 'like 2 approved notes'],
  );
});
