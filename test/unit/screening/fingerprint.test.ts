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

t.test('the same words have the same fingerprint, whatever their guise', async (t) => {
  t.equal(print('Free  GIFTS!').whole, print('free\u200B gıfts!').whole);
  t.equal(print('你好').whole, print('你好').whole);
  t.not(print('Free gifts!').whole, print('Free gift!').whole);
  t.not(print('\u202E').whole, print('\u200B').whole, 'nothing is left of them to fold');
});

t.test('a text that was changed a little shares a part; a short one has no parts', async (t) => {
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

t.test('it is keyed: another key gives nothing that fits, an older one still finds', async (t) => {
  const [newest, oldest] = toFingerprints(keyRing([key(2), old]), LONG);
  t.strictSame(oldest, print(LONG));
  t.not(newest?.whole, oldest?.whole);
  t.notOk(newest?.parts.some((part) => oldest?.parts.includes(part)));
});

t.test('likeness is the share of pieces in common', async (t) => {
  t.equal(likeness(toShingles(LONG), toShingles(LONG)), 1);
  t.equal(likeness(toShingles(LONG), toShingles('Совсем другой текст о коровах')), 0);
  t.equal(likeness(new Set(), new Set()), 0);
});

t.test('look-alikes are counted by what became of them', async (t) => {
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
