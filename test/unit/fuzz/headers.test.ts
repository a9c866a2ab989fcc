import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import t from 'tap';
import { addressBucket } from '../../../platform/http/address.ts';
import { preferredEncoding } from '../../../platform/http/compression.ts';
import { bearerToken, readCookie } from '../../../platform/http/principal.ts';
import { checkMedia, idempotencyKey } from '../../../platform/http/read-request.ts';
import { isNotModifiedSince, matchingTag } from '../../../platform/http/respond.ts';
import type { Route } from '../../../platform/http/route.ts';
import { presentedCredential } from '../../../services/credentials/authenticate.ts';
import { presentedSession, sessionCookie } from '../../../services/membership/sessions.ts';
import {
  moderatorToken,
  readModeratorToken,
} from '../../../services/moderation/staff/authenticate.ts';
import {
  moderatorCookie,
  presentedModeratorSession,
} from '../../../services/moderation/staff/sessions.ts';
import { sourceCheck } from '../../../services/protocols/mcp/source.ts';
import { same, tries } from '../../support/sequences.ts';

const NAME = '__Host-ServiceSession';
const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''));
const secret = hex(64);
const token = fc.record({ id: fc.uuid({ version: 4 }), secret });
const nameValue = (cookie: string) => cookie.split(';')[0] as string;

/**
 * RFC 6265, section 4.2.1: pairs between semicolons, optional white space, case-sensitive names.
 */
function cookieOf(header: string, name: string): string | undefined {
  const found: string[] = [];
  let pair = '';
  for (const character of `${header};`) {
    if (character !== ';') {
      pair += character;
      continue;
    }
    while (pair.startsWith(' ') || pair.startsWith('\t')) pair = pair.slice(1);
    while (pair.endsWith(' ') || pair.endsWith('\t')) pair = pair.slice(0, -1);
    const equals = pair.indexOf('=');
    if (equals >= 0 && pair.slice(0, equals) === name) found.push(pair.slice(equals + 1));
    pair = '';
  }
  return found.length === 1 ? found[0] : undefined;
}

const piece = fc.oneof(
  fc.constantFrom(
    NAME,
    `${NAME}=`,
    '__Host-Service',
    '=',
    ';',
    '; ',
    ' ',
    '\t',
    '\u00a0',
    'a=b',
    '"',
    ',',
  ),
  fc.constantFrom(NAME.toLowerCase(), `x${NAME}`, `${NAME}2`, '__Host-ServiceModerator'),
  token.map(({ id, secret }) => `${id}.${secret}`),
  token.map((made) => nameValue(sessionCookie(made))),
  fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 5 }),
);

t.test('reads a Cookie header by its grammar', async (t) => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const header = pieces.join('');
      const value = cookieOf(header, NAME);
      same(readCookie(header, NAME), value);
      const form = /^[0-9a-f-]{36}[.][0-9a-f]{64}$/.test(value ?? '')
        ? value?.split('.')
        : undefined;
      same(presentedSession(header), form && { id: form[0], secret: form[1] });
      if (form) found++;
    }),
    tries(4000),
  );
  t.ok(found > 20, `${found} sessions`);
});

t.test('reads its own cookie among others and refuses it twice', async (t) => {
  const other = fc.constantFrom('theme=dark', 'a=', '=b', 'c', '__Host-Other=1');
  fc.assert(
    fc.property(token, fc.array(other), fc.array(other), (made, before, after) => {
      for (const [write, read] of [
        [sessionCookie, presentedSession],
        [moderatorCookie, presentedModeratorSession],
      ] as const) {
        const own = nameValue(write(made));
        same(read([...before, own, ...after].join('; ')), made);
        same(read([own, ...before, own].join('; ')), undefined);
      }
    }),
    tries(500),
  );
  t.pass();
});

/** RFC 9110, section 11.4: the scheme in any case, spaces, and one token. */
function bearerOf(header: string): { id: string; secret: string } | undefined {
  if (header.slice(0, 6).toLowerCase() !== 'bearer' || header[6] !== ' ') return undefined;
  let rest = header.slice(6);
  while (rest.startsWith(' ')) rest = rest.slice(1);
  if (!rest.startsWith('svc_') || rest.length !== 4 + 36 + 1 + 64 || rest[40] !== '.')
    return undefined;
  const [id, secret] = [rest.slice(4, 40).toLowerCase(), rest.slice(41)];
  const dashes = [8, 13, 18, 23];
  const all = (text: string, allowed: string) => [...text].every((each) => allowed.includes(each));
  const right = [...id].every((each, n) => (dashes.includes(n) ? each === '-' : each !== '-'));
  if (!right || !all(id, '0123456789abcdef-') || !all(secret, '0123456789abcdef')) return undefined;
  return { id, secret };
}

const upper = (text: string) => text.toUpperCase();
const half = fc.boolean();
const bearer = fc
  .record({
    made: token,
    scheme: fc.constantFrom('Bearer', 'bearer', 'BEARER', 'bEaReR', 'Basic', 'Bearer:', 'xBearer'),
    gap: fc.constantFrom(' ', ' ', '  ', '', '\t', '\u00a0'),
    prefix: fc.constantFrom('svc_', 'svc_', 'SVC_', 'mod_', ''),
    loudId: half,
    loudSecret: fc.nat(5).map((n) => n === 0),
    tail: fc.constantFrom('', '', '', ' ', 'a', ',', '='),
  })
  .map(
    ({ made: { id, secret }, scheme, gap, prefix, loudId, loudSecret, tail }) =>
      `${scheme}${gap}${prefix}${loudId ? upper(id) : id}.${loudSecret ? upper(secret) : secret}${tail}`,
  );
const corruption = fc.array(
  fc.record({ at: fc.nat(120), put: fc.constantFrom('', '.', '-', 'g', '0', ' ') }),
  { maxLength: 1 },
);

t.test('accepts an Authorization header exactly if it is a bearer', async (t) => {
  let accepted = 0;
  fc.assert(
    fc.property(bearer, corruption, (whole, wounds) => {
      let header = whole;
      for (const { at, put } of wounds) header = header.slice(0, at) + put + header.slice(at + 1);
      const expected = bearerOf(header);
      same(presentedCredential(header), expected);
      if (expected) accepted++;
    }),
    tries(4000),
  );
  t.ok(accepted > 20, `${accepted} accepted`);
});

t.test("reads a moderator's token only as it was issued", async (t) => {
  fc.assert(
    fc.property(token, fc.nat(104), fc.constantFrom(...'.-_gG \n0'), (made, at, put) => {
      const text = moderatorToken(made);
      same(readModeratorToken(bearerToken(`Bearer ${text}`) ?? ''), made);
      const other = text.slice(0, at) + put + text.slice(at + 1);
      const read = readModeratorToken(other);
      if (read) same(moderatorToken(read), other);
    }),
    tries(1000),
  );
  t.pass();
});

const route = { body: {}, idempotency: 'required' } as unknown as Route;
const incoming = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;
const local = sourceCheck('http://localhost:3000');
const remote = sourceCheck('https://example.org');

/** Functions that read a header of an unknown sender. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'content-type': (text) => checkMedia(incoming({ 'content-type': text }), route),
  'content-encoding': (text) => checkMedia(incoming({ 'content-encoding': text }), route),
  'content-length': (text) =>
    checkMedia(incoming({ 'content-type': 'application/json', 'content-length': text }), route),
  'idempotency-key': (text) => idempotencyKey(incoming({ 'idempotency-key': text }), route),
  'accept-encoding': preferredEncoding,
  'if-none-match': (text) => matchingTag(text, '"a"', '"a-br"'),
  'if-modified-since': (text) => isNotModifiedSince(text, 'Tue, 24 Nov 2026 00:00:00 GMT'),
  'x-forwarded-for': (text) => addressBucket('127.0.0.1', text, 2),
  authorization: presentedCredential,
  cookie: (text) => [presentedSession(text), presentedModeratorSession(text)],
  'moderator token': (text) => readModeratorToken(bearerToken(`Bearer ${text}`) ?? ''),
  host: (text) => local(incoming({ host: text })),
  'remote host': (text) => remote(incoming({ host: text })),
  origin: (text) => local(incoming({ host: 'localhost', origin: `http://${text}` })),
};

const HEADS = [
  '',
  'application/json;',
  'application/json; a="',
  'Bearer ',
  `${NAME}=`,
  'xn--',
  '[',
  '(',
];
const UNITS = [
  ' ',
  '\t',
  ';',
  ' ;',
  ',',
  '=',
  '"',
  '\\"',
  '(',
  '.',
  ':',
  ':0',
  '[',
  ']',
  '%',
  '*',
  'a',
];
const PARTS = [
  '; charset',
  '; charset=',
  ';q=0',
  ';q=0.0,',
  'W/"',
  '"a",',
  'a=b;',
  '1.',
  'a-',
  `${NAME}=`,
];
const ENDS = ['', 'x', ';', '"', ']', ':1'];
const LENGTH = 7900;
/** A reader with quadratic time took a hundred times as long as the minimum. */
const MOST = 25;

/** The shortest of several times: other load can only make one longer. */
function shortest(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    try {
      work();
    } catch {
      // A refusal counts as an answer.
    }
    return performance.now() - started;
  });
  return Math.min(...times);
}

t.test('reads any header within a small multiple of the minimum time', async (t) => {
  const list = 'a;q=0.5, '.repeat(LENGTH / 9);
  const timePlain = () =>
    shortest(() => list.split(',').map((entry) => entry.trim().toLowerCase().split(';')));
  const plain = timePlain();
  for (const [header, read] of Object.entries(READERS)) {
    let slowest = { time: 0, text: '', shown: '' };
    for (const head of HEADS)
      for (const unit of [...UNITS, ...PARTS])
        for (const end of ENDS) {
          const text = (head + unit.repeat(LENGTH / unit.length)).slice(0, LENGTH) + end;
          const time = shortest(() => read(text));
          if (time > slowest.time) slowest = { time, text, shown: `${text.slice(0, 30)}…${end}` };
        }
    let times = slowest.time / plain;
    // The machine may be slower now than when the minimum was measured, so both are measured again.
    for (let again = 0; again < 10 && times >= MOST; again++)
      times = Math.min(times, shortest(() => read(slowest.text)) / timePlain());
    t.ok(times < MOST, `${header}: ${times.toFixed(1)} times, ${JSON.stringify(slowest.shown)}`);
  }
});
