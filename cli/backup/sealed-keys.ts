import {
  createCipheriv,
  createDecipheriv,
  createHmac,
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
export const KEY_BYTES = 32;
// 64 MiB and about 0.2 s for each guess.
const SCRYPT = { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 };
// Layout in bytes: salt 16, nonce 12, tag 16, then the keys as in SERVER_KEYS.
const SALT = 16;
const NONCE = 12;
const TAG = 16;
const MIN_PASSPHRASE = 12;

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

/** Encrypts the server keys under a passphrase. */
export function sealKeys(keys: readonly ServerKey[], passphrase: string): Buffer {
  const [salt, nonce] = [randomBytes(SALT), randomBytes(NONCE)];
  const key = keyFrom(passphrase, salt);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  const sealed = Buffer.concat([cipher.update(formatServerKeys(keys)), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), sealed]);
}

/** Decrypts what `sealKeys` returned. Throws if the passphrase is another one. */
export function openKeys(sealed: Buffer, passphrase: string): readonly ServerKey[] {
  const key = keyFrom(passphrase, sealed.subarray(0, SALT));
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(SALT, SALT + NONCE), {
    authTagLength: TAG,
  });
  decipher.setAuthTag(sealed.subarray(SALT + NONCE, SALT + NONCE + TAG));
  try {
    const text = decipher.update(sealed.subarray(SALT + NONCE + TAG), undefined, 'utf8');
    const keys = parseServerKeys(text + decipher.final('utf8'));
    if (keys) return keys;
  } catch {
    // The tag does not fit.
  }
  throw new Error('The passphrase is not the one of this backup');
}

/** An HMAC-SHA-256 of a text under a key derived from the passphrase, with the salt of that key. */
export function sealText(text: string | Buffer, passphrase: string, salt = randomBytes(SALT)) {
  const mac = createHmac('sha256', keyFrom(passphrase, salt)).update(text).digest('hex');
  return `${salt.toString('hex')} ${mac}\n`;
}

/** Whether `seal` is what `sealText` returned for this text and passphrase. */
export function isSealed(text: string | Buffer, seal: string, passphrase: string): boolean {
  const salt = /^([0-9a-f]{32}) [0-9a-f]{64}\n$/.exec(seal)?.[1];
  if (!salt) return false;
  const expected = sealText(text, passphrase, Buffer.from(salt, 'hex'));
  return timingSafeEqual(Buffer.from(expected), Buffer.from(seal));
}

/** Derives a key from a passphrase and a salt. */
export const keyFrom = (passphrase: string, salt: Buffer): Buffer =>
  scryptSync(passphrase, salt, KEY_BYTES, SCRYPT);
