import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** The kinds of keys that a passkey can have, and one that the service does not accept. */
export type KeyKind = 'ES256' | 'EdDSA' | 'RS256' | 'ES384';

/** What an attacker, or a broken authenticator, does otherwise. */
export interface Differences {
  origin?: string;
  type?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  challenge?: string;
  /** The host whose hash is signed. */
  rpId?: string;
  /** Flags to leave out, such as that the user was verified. */
  without?: number;
  counter?: number;
  /** The id of another passkey. */
  id?: string;
  userHandle?: string;
  /** The format of the attestation. */
  format?: string;
  signature?: string;
}

const USER_PRESENT = 0x01;
export const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

type Options = { challenge: string; rp?: { id: string }; rpId?: string; user?: { id: string } };

/**
 * An authenticator with one passkey, written from WebAuthn Level 3 apart from the service: it makes the
 * answers of a browser without one. `counts`: it has a counter.
 */
export function createAuthenticator(origin: string, kind: KeyKind = 'ES256', counts = false) {
  const { privateKey, publicKey } = generateKey(kind);
  const id = randomBytes(32).toString('base64url');
  let user = '';
  let count = 0;

  const dataOf = (rpId: string, flags: number, counter: number, credential = Buffer.alloc(0)) =>
    Buffer.concat([sha256(rpId), Buffer.of(flags), toUint32(counter), credential]);

  function clientData(type: string, challenge: string, other: Differences): Buffer {
    const { crossOrigin = false, topOrigin } = other;
    return Buffer.from(
      JSON.stringify({
        type: other.type ?? type,
        challenge: other.challenge ?? challenge,
        origin: other.origin ?? origin,
        crossOrigin,
        ...(topOrigin ? { topOrigin } : {}),
      }),
    );
  }

  return {
    id,

    /** Answers the challenge to add a passkey. */
    register(options: Options, other: Differences = {}) {
      user = options.user?.id ?? '';
      count = counts ? 1 : 0;
      const credentialId = Buffer.from(other.id ?? id, 'base64url');
      const credential = Buffer.concat([
        Buffer.alloc(16),
        toUint32(credentialId.length).subarray(2),
        credentialId,
        toCose(kind, publicKey),
      ]);
      const flags = (USER_PRESENT | USER_VERIFIED | HAS_CREDENTIAL) & ~(other.without ?? 0);
      const rpId = other.rpId ?? options.rp?.id ?? '';
      const attestation: [unknown, unknown][] = [
        ['fmt', other.format ?? 'none'],
        ['attStmt', []],
        ['authData', dataOf(rpId, flags, other.counter ?? count, credential)],
      ];
      return {
        id: other.id ?? id,
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, other).toString(
            'base64url',
          ),
          attestationObject: cbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
      };
    },

    /** Answers the challenge of a sign-in. */
    signIn(options: Options, other: Differences = {}) {
      if (counts) count += 1;
      const flags = (USER_PRESENT | USER_VERIFIED) & ~(other.without ?? 0);
      const rpId = other.rpId ?? options.rpId ?? '';
      const authenticatorData = dataOf(rpId, flags, other.counter ?? count);
      const data = clientData('webauthn.get', options.challenge, other);
      const signed = Buffer.concat([authenticatorData, sha256(data)]);
      const hash = { ES256: 'sha256', RS256: 'sha256', ES384: 'sha384', EdDSA: null }[kind];
      return {
        id: other.id ?? id,
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: other.signature ?? sign(hash, signed, privateKey).toString('base64url'),
          userHandle: other.userHandle ?? user,
        },
      };
    },
  };
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

function toUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function generateKey(kind: KeyKind): { privateKey: KeyObject; publicKey: KeyObject } {
  if (kind === 'EdDSA') return generateKeyPairSync('ed25519');
  if (kind === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return generateKeyPairSync('ec', { namedCurve: kind === 'ES256' ? 'P-256' : 'P-384' });
}

/** A public key as COSE has it (RFC 9053). */
function toCose(kind: KeyKind, key: KeyObject): Buffer {
  const { x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' });
  const [xBytes, yBytes, nBytes, eBytes] = [x, y, n, e].map((part) =>
    Buffer.from(part, 'base64url'),
  );
  if (kind === 'EdDSA')
    return cbor([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, xBytes],
    ]);
  if (kind === 'RS256')
    return cbor([
      [1, 3],
      [3, -257],
      [-1, nBytes],
      [-2, eBytes],
    ]);
  const [algorithm, curve] = kind === 'ES256' ? [-7, 1] : [-35, 2];
  return cbor([
    [1, 2],
    [3, algorithm],
    [-1, curve],
    [-2, xBytes],
    [-3, yBytes],
  ]);
}

/** Encodes a value as CBOR (RFC 8949); a list of pairs is a map. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const pairs = value as [unknown, unknown][];
  return Buffer.concat([head(5, pairs.length), ...pairs.flat().map(cbor)]);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value);
  if (value < 256) return Buffer.of((major << 5) | 24, value);
  return Buffer.of((major << 5) | 25, value >> 8, value & 255);
}
