import { randomBytes } from 'node:crypto';
import t from 'tap';
import { CHUNK_BYTES, createRowSeal } from '../../cli/backup/sealed-rows.ts';

const PASSPHRASE = 'correct horse battery';
const SEALED_CHUNK = CHUNK_BYTES + 16;
const DAMAGED = new Error('damaged');
const rows = createRowSeal(PASSPHRASE);

async function* inParts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const seal = (bytes: Buffer, size = 10_000) => collect(rows.seal('notes')(inParts(bytes, size)));
const open = (bytes: Buffer, { from = rows, file = 'notes', size = 10_000 } = {}) =>
  collect(from.open(file, DAMAGED)(inParts(bytes, size)));

t.test('opens what it has sealed, in parts of any size', async (t) => {
  const lengths = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES];
  for (const length of lengths) {
    const bytes = randomBytes(length);
    const sealed = await seal(bytes, length === 1 ? 1 : 7777);
    t.equal(sealed.length, length + 16 * Math.max(1, Math.ceil(length / CHUNK_BYTES)));
    t.ok(bytes.equals(await open(sealed, { size: 100_000 })), `${length} bytes`);
    const again = createRowSeal(PASSPHRASE, rows.salt);
    t.ok(bytes.equals(await open(sealed, { from: again })), 'also in another process');
  }
  t.notOk((await seal(Buffer.from('words of a guest'))).includes('words'));
});

t.test('opens nothing that was changed, moved, repeated or cut', async (t) => {
  const sealed = await seal(randomBytes(3 * CHUNK_BYTES + 100));
  const chunks = [0, 1, 2, 3].map((at) =>
    sealed.subarray(at * SEALED_CHUNK, (at + 1) * SEALED_CHUNK),
  );
  const [first, second, third, last] = chunks as [Buffer, Buffer, Buffer, Buffer];
  const flipped = Buffer.from(sealed);
  flipped[SEALED_CHUNK + 5] = (flipped[SEALED_CHUNK + 5] ?? 0) ^ 1;
  const changes: Record<string, Buffer> = {
    'a bit': flipped,
    'two chunks in another order': Buffer.concat([second, first, third, last]),
    'a chunk twice': Buffer.concat([first, first, third, last]),
    'no last chunk': Buffer.concat([first, second, third]),
    'a chunk of the middle away': Buffer.concat([first, third, last]),
    'the last byte away': sealed.subarray(0, -1),
    'a byte more': Buffer.concat([sealed, Buffer.from('x')]),
    'nothing left': Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(changes)) await t.rejects(open(bytes), DAMAGED, name);
  await t.rejects(open(sealed, { file: 'members' }), DAMAGED, 'the file of another table');
  const others = [createRowSeal('another passphrase', rows.salt), createRowSeal(PASSPHRASE)];
  for (const from of others) await t.rejects(open(sealed, { from }), DAMAGED);
});
