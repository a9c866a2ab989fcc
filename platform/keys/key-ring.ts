import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { ServerKey } from './server-keys.ts';

export type Purpose =
  | 'sign-in'
  | 'recovery'
  | 'credential'
  | 'ended-credential'
  | 'session'
  | 'moderator'
  | 'moderator-session'
  | 'handle'
  | 'address'
  | 'receipt'
  | 'cursor'
  | 'cursor-nonce'
  | 'fingerprint';

/** A keyed hash and the id of the server key that made it. */
export interface Verifier {
  key_id: number;
  hash: string;
}

export type KeyRing = ReturnType<typeof keyRing>;

/** The 32 bytes of the key that a server key has for a purpose. */
export const deriveSecret = (secret: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `service ${purpose}`, 32));

/**
 * Creates the keyed hashes (HMAC-SHA-256) of this service. Each purpose has a key derived from a
 * server key by HKDF-SHA-256. The hashed secrets are 256-bit random values, so no slow password
 * hash is needed. Throws if `serverKeys` is empty.
 */
export function keyRing(serverKeys: readonly ServerKey[]) {
  const newest = serverKeys[0];
  if (!newest) throw new Error('a key ring needs a server key');
  const ids = serverKeys.filter((key) => !key.only).map((key) => key.id);
  /** The ids of all keys that recognize handles: those in `ids`, and retired ones. */
  const handleIds = serverKeys.map((key) => key.id);
  const derived = new Map<string, KeyObject>();

  /** The derived key of a purpose under a server key; undefined if the server key is unknown. */
  function derive(purpose: Purpose, id: number = newest?.id ?? 0): KeyObject | undefined {
    const name = `${id} ${purpose}`;
    let key = derived.get(name);
    const source = serverKeys.find((serverKey) => serverKey.id === id);
    if (!key && source && (source.only ?? purpose) === purpose) {
      key = createSecretKey(source.only ? source.secret : deriveSecret(source.secret, purpose));
      derived.set(name, key);
    }
    return key;
  }

  /** Hashes a secret, by default under the newest key. Throws if the server key is unknown. */
  function mac(purpose: Purpose, owner: string, secret: string, id = ids[0]): Verifier {
    const key = derive(purpose, id);
    if (!key || id === undefined) throw new Error(`server key ${id} is not in the ring`);
    const hash = createHmac('sha256', key).update(`${owner}\0${secret}`).digest('hex');
    return { key_id: id, hash };
  }

  /** Compares in constant time. Costs the same if there is no stored verifier. */
  function verify(purpose: Purpose, owner: string, secret: string, stored?: Verifier): boolean {
    const known = stored !== undefined && ids.includes(stored.key_id);
    const { hash } = mac(purpose, owner, secret, known ? stored.key_id : ids[0]);
    const expected = known ? stored.hash : '0'.repeat(64);
    return timingSafeEqual(Buffer.from(hash), Buffer.from(expected)) && known;
  }

  /** The hash under every key of the ring, newest first, to look up a value by its hash. */
  function all(purpose: Purpose, owner: string, secret: string): Verifier[] {
    return (purpose === 'handle' ? handleIds : ids).map((id) => mac(purpose, owner, secret, id));
  }

  return { ids, handleIds, derive, mac, verify, all };
}
