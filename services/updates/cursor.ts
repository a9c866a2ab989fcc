import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { KeyRing } from '../../platform/keys/key-ring.ts';

const CIPHER = 'aes-256-gcm';
const FORMAT = 1;
// Layout in bytes: format 1, server key id 2, nonce 12, sequence 8, tag 16. The 39 bytes fill 52
// base64url characters without spare bits, so that each cursor has exactly one encoding.
const HEAD = 3;
const NONCE = 12;
const SEQUENCE = 8;
const TAG = 16;
const TEXT = /^[A-Za-z0-9_-]{52}$/;

/**
 * Encodes the last sequence seen as a cursor, encrypted and authenticated for one member. The nonce
 * is a keyed hash of member and sequence, so a nonce is never reused for another sequence, and the
 * same position always has the same cursor. Throws if the key ring is empty.
 */
export function writeCursor(keys: KeyRing, memberId: string, sequence: number): string {
  const [id = 0] = keys.ids;
  const key = keys.derive('cursor', id);
  const nonceKey = keys.derive('cursor-nonce', id);
  if (!key || !nonceKey) throw new Error('a cursor needs a server key');
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(FORMAT, 0);
  head.writeUInt16BE(id, 1);
  const plain = Buffer.alloc(SEQUENCE);
  plain.writeBigUInt64BE(BigInt(sequence));
  const nonce = createHmac('sha256', nonceKey)
    .update(memberId)
    .update(plain)
    .digest()
    .subarray(0, NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  cipher.setAAD(associated(head, memberId));
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([head, nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
}

/** Decodes a cursor. Returns undefined if no key in the ring issued the cursor to this member. */
export function readCursor(keys: KeyRing, memberId: string, text: string): number | undefined {
  if (!TEXT.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const head = bytes.subarray(0, HEAD);
  const key = keys.derive('cursor', head.readUInt16BE(1));
  if (!key || head.readUInt8(0) !== FORMAT) return undefined;
  const end = bytes.length - TAG;
  const nonce = bytes.subarray(HEAD, HEAD + NONCE);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  decipher.setAAD(associated(head, memberId));
  decipher.setAuthTag(bytes.subarray(end));
  try {
    const plain = Buffer.concat([
      decipher.update(bytes.subarray(HEAD + NONCE, end)),
      decipher.final(),
    ]);
    return Number(plain.readBigUInt64BE());
  } catch {
    return undefined;
  }
}

const associated = (head: Buffer, memberId: string) => Buffer.concat([head, Buffer.from(memberId)]);
