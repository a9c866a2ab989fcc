import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { keyFrom, SALT_BYTES } from './sealed-keys.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Bytes of a file that are encrypted together. */
export const CHUNK_BYTES = 2 ** 16;

type Bytes = AsyncIterable<Buffer>;

/** Encrypts and decrypts the files with rows of one backup. */
export interface RowSeal {
  /** The salt with which the key was derived from the passphrase, in hex. */
  salt: string;
  seal(file: string): (plain: Bytes) => AsyncGenerator<Buffer>;
  /** The generator throws `damaged` if a chunk was changed, moved or taken away. */
  open(file: string, damaged: Error): (sealed: Bytes) => AsyncGenerator<Buffer>;
}

/**
 * Derives the keys of the rows of one backup from the passphrase, by scrypt: one for each file, so that chunks cannot move
 * between files. A file is a sequence of chunks of AES-256-GCM, each `CHUNK_BYTES` long (the last one shorter) with a tag after it; the nonce
 * is the number of the chunk, and says whether it is the last.
 */
export function createRowSeal(
  passphrase: string,
  salt: string = randomBytes(SALT_BYTES).toString('hex'),
): RowSeal {
  const keyOf = (file: string) => keyFrom(passphrase, Buffer.from(salt, 'hex'), file);
  return {
    salt,
    seal: (file) =>
      async function* (plain) {
        const fileKey = keyOf(file);
        for await (const { bytes, number, isLast } of pieces(plain, CHUNK_BYTES)) {
          const cipher = createCipheriv(CIPHER, fileKey, nonce(number, isLast));
          yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
        }
      },
    open: (file, damaged) =>
      async function* (sealed) {
        const fileKey = keyOf(file);
        for await (const { bytes, number, isLast } of pieces(sealed, CHUNK_BYTES + TAG_BYTES)) {
          const length = bytes.length - TAG_BYTES;
          if (length < 0) throw damaged;
          const decipher = createDecipheriv(CIPHER, fileKey, nonce(number, isLast));
          decipher.setAuthTag(bytes.subarray(length));
          const plain = decipher.update(bytes.subarray(0, length));
          try {
            decipher.final();
          } catch {
            throw damaged;
          }
          yield plain;
        }
      },
  };
}

function nonce(number: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(NONCE_BYTES);
  bytes.writeBigUInt64BE(BigInt(number));
  bytes[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return bytes;
}

/** Cuts a stream into pieces of `size` bytes; the last one may be shorter, or empty if there is no byte at all. */
async function* pieces(stream: Bytes, size: number) {
  let rest: Buffer[] = [];
  let length = 0;
  let number = 0;
  for await (const chunk of stream) {
    rest.push(chunk);
    length += chunk.length;
    // A full piece waits until more follows, because it may be the last.
    if (length <= size) continue;
    let bytes = Buffer.concat(rest);
    for (; bytes.length > size; bytes = bytes.subarray(size), number++)
      yield { bytes: bytes.subarray(0, size), number, isLast: false };
    rest = [bytes];
    length = bytes.length;
  }
  yield { bytes: Buffer.concat(rest), number, isLast: true };
}
