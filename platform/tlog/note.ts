import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

// Notes signed with Ed25519 as C2SP signed-note (https://c2sp.org/signed-note), and cosignatures of witnesses
// with Ed25519 as tlog-cosignature (https://c2sp.org/tlog-cosignature).

/** The first byte of a key says what it signs: the text of a note, or `cosignature/v1`, a time and the text. */
const ALGORITHM = Buffer.from([1]);
const COSIGNATURE = Buffer.from([4]);
/** The DER encodings of Ed25519 keys, up to the key (RFC 8410). */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const PUBLIC_BYTES = 32;
/** A name has neither a space nor a plus, nor a character that a terminal could take for a command. */
const KEY_NAME = '[^\\s+\\p{C}]+';
const IS_KEY_NAME = new RegExp(`^${KEY_NAME}$`, 'u');
const IS_KEY = new RegExp(`^(${KEY_NAME})\\+([0-9a-f]{8})\\+(\\S+)$`, 'u');
const SIGNATURE_BYTES = 64;
const ID_BYTES = 4;
/** Seconds since 1970, before the signature of a witness. */
const TIME_BYTES = 8;
const MAX_SIGNATURES = 100;

/** A key that verifies notes. Its text form is `name+id+key`, which Go's `note.NewVerifier` takes. */
export interface VerifierKey {
  name: string;
  /** The key's hash, 8 hex digits. */
  id: string;
  key: KeyObject;
  /** Whether the key is that of a witness, which signs the time as well. */
  cosigns: boolean;
}

/** Creates the signing key of a 32-byte seed. */
export const signingKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' });

const publicBytes = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_DER.length);

const keyHash = (name: string, algorithm: Buffer, bytes: Uint8Array): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(algorithm)
    .update(bytes)
    .digest()
    .subarray(0, ID_BYTES);

/** Whether a key may have this name. */
export const isKeyName = (name: string): boolean => IS_KEY_NAME.test(name);

/** The text form of the key that verifies what `key` signs under a name. */
export function verifierText(name: string, key: KeyObject): string {
  const bytes = publicBytes(key);
  const encoded = Buffer.concat([ALGORITHM, bytes]).toString('base64');
  return `${name}+${keyHash(name, ALGORITHM, bytes).toString('hex')}+${encoded}`;
}

/** Parses the text form of a verifier's key; undefined if it is malformed, or its id is not that of the key. */
export const parseVerifier = (text: string): VerifierKey | undefined => parseKey(text, ALGORITHM);

/** Parses the text form of the key of a witness, as `parseVerifier`. */
export const parseWitnessKey = (text: string): VerifierKey | undefined =>
  parseKey(text, COSIGNATURE);

function parseKey(text: string, algorithm: Buffer): VerifierKey | undefined {
  const [, name = '', id = '', encoded = ''] = IS_KEY.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.length !== 1 + PUBLIC_BYTES || bytes[0] !== algorithm[0]) return undefined;
  const raw = bytes.subarray(1);
  if (keyHash(name, algorithm, raw).toString('hex') !== id) return undefined;
  const der = Buffer.concat([PUBLIC_DER, raw]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { name, id, key, cosigns: algorithm === COSIGNATURE };
}

/** Signs a text, which ends with a line break, with each of the keys. */
export function signNote(text: string, name: string, keys: readonly KeyObject[]): string {
  const lines = keys.map((key) => {
    const signature = sign(null, Buffer.from(text), key);
    const blob = Buffer.concat([keyHash(name, ALGORITHM, publicBytes(key)), signature]);
    return `\u2014 ${name} ${blob.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/**
 * The text of a note that at least one of the keys has signed; undefined if none has, or a signature of
 * one of them is wrong. Signatures of other keys are ignored.
 */
export function openNote(note: string, keys: readonly VerifierKey[]): string | undefined {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n') || /(?!\n)\p{Cc}|\ufffd/u.test(note)) return undefined;
  const text = note.slice(0, end + 1);
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return undefined;
  let signed = false;
  for (const line of lines) {
    const [, name, encoded = ''] = /^\u2014 ([^\s+]+) (\S+)$/.exec(line) ?? [];
    const blob = fromBase64(encoded);
    if (name === undefined || !blob || blob.length <= ID_BYTES) return undefined;
    const id = blob.subarray(0, ID_BYTES).toString('hex');
    const key = keys.find((one) => one.name === name && one.id === id);
    if (!key) continue;
    if (!isSignature(text, blob.subarray(ID_BYTES), key)) return undefined;
    signed = true;
  }
  return signed ? text : undefined;
}

function isSignature(text: string, bytes: Buffer, { key, cosigns }: VerifierKey): boolean {
  const from = cosigns ? TIME_BYTES : 0;
  if (bytes.length !== from + SIGNATURE_BYTES) return false;
  const message = cosigns ? `cosignature/v1\ntime ${bytes.readBigUInt64BE()}\n${text}` : text;
  return verify(null, Buffer.from(message), key, bytes.subarray(from));
}

/** The bytes of a text in base64 with padding; undefined for any other text. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined;
}
