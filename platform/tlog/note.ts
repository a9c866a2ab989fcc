import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

// Notes signed with Ed25519 as C2SP signed-note: https://c2sp.org/signed-note

const ALGORITHM = Buffer.from([1]);
/** The DER encodings of Ed25519 keys, up to the key (RFC 8410). */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const PUBLIC_BYTES = 32;
const SIGNATURE_BYTES = 64;
const ID_BYTES = 4;
const MAX_SIGNATURES = 100;

/** A key that verifies notes. Its text form is `name+id+key`, which Go's `note.NewVerifier` takes. */
export interface VerifierKey {
  name: string;
  /** The key's hash, 8 hex digits. */
  id: string;
  key: KeyObject;
}

/** Creates the signing key of a 32-byte seed. */
export const signingKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' });

const publicBytes = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_DER.length);

const keyHash = (name: string, bytes: Uint8Array): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(ALGORITHM)
    .update(bytes)
    .digest()
    .subarray(0, ID_BYTES);

/** Whether a key may have this name: it has no space and no plus. */
export const isKeyName = (name: string): boolean => /^[^\s+]+$/u.test(name);

/** The text form of the key that verifies what `key` signs under a name. */
export function verifierText(name: string, key: KeyObject): string {
  const bytes = publicBytes(key);
  const encoded = Buffer.concat([ALGORITHM, bytes]).toString('base64');
  return `${name}+${keyHash(name, bytes).toString('hex')}+${encoded}`;
}

/** Parses the text form of a verifier's key; undefined if it is malformed, or its id is not that of the key. */
export function parseVerifier(text: string): VerifierKey | undefined {
  const [, name = '', id = '', encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.length !== 1 + PUBLIC_BYTES || bytes[0] !== ALGORITHM[0]) return undefined;
  const raw = bytes.subarray(1);
  if (keyHash(name, raw).toString('hex') !== id) return undefined;
  const der = Buffer.concat([PUBLIC_DER, raw]);
  return { name, id, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

/** Signs a text, which ends with a line break, with each of the keys. */
export function signNote(text: string, name: string, keys: readonly KeyObject[]): string {
  const lines = keys.map((key) => {
    const signature = sign(null, Buffer.from(text), key);
    const blob = Buffer.concat([keyHash(name, publicBytes(key)), signature]);
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
    const signature = blob.subarray(ID_BYTES);
    const isRight =
      signature.length === SIGNATURE_BYTES && verify(null, Buffer.from(text), key.key, signature);
    if (!isRight) return undefined;
    signed = true;
  }
  return signed ? text : undefined;
}

/** The bytes of a text in base64 with padding; undefined for any other text. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined;
}
