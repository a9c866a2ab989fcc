import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  formatServerKeys,
  parseServerKeys,
  type ServerKey,
} from '../../platform/keys/server-keys.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
// 64 MiB and about 0.2 s for each guess.
const SCRYPT = { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 };
// Layout in bytes: salt 16, nonce 12, tag 16, then the keys as in SERVER_KEYS.
export const SALT_BYTES = 16;
const NONCE = 12;
const TAG = 16;
const MIN_PASSPHRASE = 12;
/** Purposes of keys; no file with rows has such a name. */
const FOR_KEYS = 'server keys';
const FOR_MANIFEST = 'manifest';

/** Reads `BACKUP_PASSPHRASE`, or the file that `BACKUP_PASSPHRASE_FILE` names. Throws if it is short. */
export function readPassphrase(env: NodeJS.ProcessEnv): string {
  const file = env.BACKUP_PASSPHRASE_FILE;
  const passphrase = env.BACKUP_PASSPHRASE ?? (file && readFileSync(file, 'utf8').trimEnd());
  if (!passphrase)
    throw new Error('Set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE: it seals the backup');
  if (passphrase.length < MIN_PASSPHRASE)
    throw new Error(`The passphrase must have at least ${MIN_PASSPHRASE} characters`);
  return passphrase;
}

/** Encrypts the server keys under a passphrase and the salt of the backup. */
export function sealKeys(keys: readonly ServerKey[], passphrase: string, salt: Buffer): Buffer {
  const nonce = randomBytes(NONCE);
  const key = keyFrom(passphrase, salt, FOR_KEYS);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  const sealed = Buffer.concat([cipher.update(formatServerKeys(keys)), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), sealed]);
}

/** Decrypts what `sealKeys` returned. Throws if the passphrase is another one. */
export function openKeys(sealed: Buffer, passphrase: string): readonly ServerKey[] {
  const key = keyFrom(passphrase, sealed.subarray(0, SALT_BYTES), FOR_KEYS);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(SALT_BYTES, SALT_BYTES + NONCE), {
    authTagLength: TAG,
  });
  decipher.setAuthTag(sealed.subarray(SALT_BYTES + NONCE, SALT_BYTES + NONCE + TAG));
  try {
    const text = decipher.update(sealed.subarray(SALT_BYTES + NONCE + TAG), undefined, 'utf8');
    const keys = parseServerKeys(text + decipher.final('utf8'));
    if (keys) return keys;
  } catch {
    // The tag does not fit.
  }
  throw new Error('The passphrase is not the one of this backup');
}

/** An HMAC-SHA-256 of a text under a key derived from the passphrase, with the salt of that key. */
export function sealText(text: string | Buffer, passphrase: string, salt: Buffer): string {
  const key = keyFrom(passphrase, salt, FOR_MANIFEST);
  const mac = createHmac('sha256', key).update(text).digest('hex');
  return `${salt.toString('hex')} ${mac}\n`;
}

/** Whether `seal` is what `sealText` returned for this text and passphrase. */
export function isSealed(text: string | Buffer, seal: string, passphrase: string): boolean {
  const salt = /^([0-9a-f]{32}) [0-9a-f]{64}\n$/.exec(seal)?.[1];
  if (!salt) return false;
  const expected = sealText(text, passphrase, Buffer.from(salt, 'hex'));
  return timingSafeEqual(Buffer.from(expected), Buffer.from(seal));
}

/**
 * Derives a key from a passphrase and a salt, another one for each purpose: the name of a file with rows, or one of this
 * module. A backup has one salt and needs dozens of keys, so the slow derivation from the passphrase is kept.
 */
export function keyFrom(passphrase: string, salt: Buffer, purpose: string): Buffer {
  if (kept?.passphrase !== passphrase || !kept.salt.equals(salt))
    kept = { passphrase, salt, secret: scryptSync(passphrase, salt, KEY_BYTES, SCRYPT) };
  return Buffer.from(hkdfSync('sha256', kept.secret, '', purpose, KEY_BYTES));
}

let kept: { passphrase: string; salt: Buffer; secret: Buffer } | undefined;
