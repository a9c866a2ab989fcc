import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { FIRST_EPOCH } from '../../platform/eventstore/log-epochs.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';

/** A position in a member's feed: the last sequence seen, and the epoch of the log that had it. */
export interface FeedPosition {
  sequence: number;
  epoch: number;
}

const CIPHER = 'aes-256-gcm';
// Layout in bytes: format 1, server key id 2, nonce 12, then the position and a tag of 16. The 42
// bytes fill 56 base64url characters without spare bits, so that each cursor has exactly one
// encoding. Format 1, which is still read, has a sequence of 8 bytes and no epoch: 39 bytes.
const HEAD = 3;
const NONCE = 12;
const TAG = 16;
const FORMAT = 2;
const SEQUENCE = 5;
const EPOCH = 6;
const POSITION_BYTES: Readonly<Record<number, number>> = { 1: 8, 2: SEQUENCE + EPOCH };
const TEXT = /^(?:[A-Za-z0-9_-]{4})+$/;

/**
 * Encodes a position as a cursor, encrypted and authenticated for one member. The nonce is a keyed
 * hash of member and position, so a nonce is never reused for another position, and the same
 * position always has the same cursor. Throws if the key ring is empty.
 */
export function writeCursor(
  keys: KeyRing,
  memberId: string,
  { sequence, epoch }: FeedPosition,
): string {
  const [id = 0] = keys.ids;
  const key = keys.derive('cursor', id);
  const nonceKey = keys.derive('cursor-nonce', id);
  if (!key || !nonceKey) throw new Error('a cursor needs a server key');
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(FORMAT, 0);
  head.writeUInt16BE(id, 1);
  const plain = Buffer.alloc(SEQUENCE + EPOCH);
  plain.writeUIntBE(sequence, 0, SEQUENCE);
  plain.writeUIntBE(epoch, SEQUENCE, EPOCH);
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
export function readCursor(
  keys: KeyRing,
  memberId: string,
  text: string,
): FeedPosition | undefined {
  if (!TEXT.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const size = POSITION_BYTES[bytes.readUInt8(0)];
  if (size === undefined || bytes.length !== HEAD + NONCE + size + TAG) return undefined;
  const head = bytes.subarray(0, HEAD);
  const key = keys.derive('cursor', head.readUInt16BE(1));
  if (!key) return undefined;
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
    return size === SEQUENCE + EPOCH
      ? { sequence: plain.readUIntBE(0, SEQUENCE), epoch: plain.readUIntBE(SEQUENCE, EPOCH) }
      : { sequence: Number(plain.readBigUInt64BE()), epoch: FIRST_EPOCH };
  } catch {
    return undefined;
  }
}

const associated = (head: Buffer, memberId: string) => Buffer.concat([head, Buffer.from(memberId)]);
