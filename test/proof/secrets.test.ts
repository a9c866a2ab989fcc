import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { encodedForms, filesOf, finder } from '../../proof/secrets.ts';

const secrets = Array.from({ length: 50 }, () => randomBytes(32).toString('hex'));
const secret = secrets[17] ?? '';
const find = finder(secrets);
const raw = Buffer.from(secret, 'hex');
const noise = (length: number) => randomBytes(length).toString('latin1');

/** The five encodings, each with its variants. */
const written: Record<string, string> = {
  'small hex': secret,
  'capital hex': secret.toUpperCase(),
  'raw bytes': raw.toString('latin1'),
  'base64 of the bytes': raw.toString('base64'),
  'base64 of the digits': Buffer.from(secret).toString('base64'),
  'base64 within something longer': Buffer.from(`user:${secret}!`).toString('base64'),
  'base64url of the bytes': raw.toString('base64url'),
  'base64url of the digits': Buffer.from(`x${secret}`).toString('base64url'),
  'percent escapes': secret.replace(/./g, (digit) => `%${digit.charCodeAt(0).toString(16)}`),
  'JSON escapes': secret.replace(/./g, (digit) => `\\u00${digit.charCodeAt(0).toString(16)}`),
  'hex of the digits': Buffer.from(secret).toString('hex'),
};

for (const [name, text] of Object.entries(written))
  t.test(`finds a secret at any offset: ${name}`, async (t) => {
    for (let before = 0; before < 40; before++) {
      const bytes = Buffer.from(`${noise(before)}${text}${noise(20)}`, 'latin1');
      t.equal(find(bytes), secret, `after ${before} bytes`);
    }
  });

t.test('finds neither absent secrets nor parts of one', async (t) => {
  t.equal(find(randomBytes(1_000_000)), undefined);
  t.equal(find(Buffer.from(secret.slice(0, 40))), undefined);
  t.equal(find(Buffer.alloc(0)), undefined);
});

t.test('has forms long enough for a whole window at any offset', async (t) => {
  for (const form of encodedForms(secret)) t.ok(form.length >= 29, form);
});

t.test('reads files under their current names while they are renamed', (t) => {
  const folder = t.testdir({ a: 'one', b: 'two', deep: { c: 'three' }, gone: { d: 'four' } });
  const at = (name: string) => join(folder, name);
  const read: string[] = [];
  for (const [, bytes] of filesOf([folder, at('a')])) {
    read.push(String(bytes));
    if (read.length > 1) continue;
    renameSync(at('b'), at('deep/b'));
    rmSync(at('gone'), { recursive: true });
    mkdirSync(at('late'));
    writeFileSync(at('late/e'), 'five');
  }
  t.same(read.toSorted(), ['five', 'one', 'three', 'two']);
  t.throws(() => [...filesOf([at('nowhere')])], { code: 'ENOENT' });
  t.end();
});
