import { generateKeyPairSync } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../../platform/json.ts';
import { keep } from '../../platform/keep.ts';
import type { RelyingParty } from './challenges.ts';

/** Loaded when the first challenge is out: its parsers of certificates take 0.3 s of a processor to load. */
export const webauthn = keep(() => import('@simplewebauthn/server'));

/** The key of no passkey: an unknown id is verified with it, for the same work. */
const keyOfNone = keep(() => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const [head, between] = ['a5010203262001215820', '225820'].map((hex) => Buffer.from(hex, 'hex'));
  const parts = [head, Buffer.from(x, 'base64url'), between, Buffer.from(y, 'base64url')];
  return Buffer.concat(parts as Buffer[]).toString('base64url');
});

/** COSE's ids of ES256, EdDSA and RS256. */
export const ALGORITHMS = [-7, -8, -257];

/** What an authenticator answers to the challenge of a new passkey, as WebAuthn names it; base64url. */
export interface Registration {
  id: string;
  response: {
    clientDataJSON: string;
    attestationObject: string;
    transports?: readonly string[] | undefined;
  };
}

/** What it answers to the challenge of a sign-in. */
export interface Assertion {
  id: string;
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle: string;
  };
}

/** A member's handle for authenticators: the bytes of the id. */
export const userHandle = (memberId: string): string =>
  Buffer.from(memberId.replaceAll('-', ''), 'hex').toString('base64url');

/** Verifies a new passkey, except for its challenge, which it returns. Undefined if it is not acceptable. */
export async function verifyRegistration(
  { id: rpId, origin }: RelyingParty,
  { id, response }: Registration,
) {
  const { verifyRegistrationResponse } = await webauthn();
  const challenge = challengeOf(response.clientDataJSON, 'webauthn.create', origin);
  if (!challenge) return undefined;
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...asPublicKey(id),
        response: {
          clientDataJSON: response.clientDataJSON,
          attestationObject: response.attestationObject,
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    // Browsers that are asked for no attestation leave `packed` where the passkey has signed itself.
    if (!verified || !['none', 'packed'].includes(registrationInfo.fmt)) return undefined;
    const { credential } = registrationInfo;
    if (credential.id !== id) return undefined;
    const publicKey = Buffer.from(credential.publicKey).toString('base64url');
    return { challenge, credentialId: id, publicKey, signCount: credential.counter };
  } catch {
    return undefined;
  }
}

/** Verifies a sign-in, except for its challenge and the counter, which it returns. Undefined if it fails. */
export async function verifyAssertion(
  { id: rpId, origin }: RelyingParty,
  { id, response }: Assertion,
  publicKey: string = keyOfNone(),
) {
  const { verifyAuthenticationResponse } = await webauthn();
  const challenge = challengeOf(response.clientDataJSON, 'webauthn.get', origin);
  if (!challenge) return undefined;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...asPublicKey(id), response },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      // The counter is compared under the member's lock.
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
        counter: 0,
      },
    });
    return verified ? { challenge, signCount: authenticationInfo.newCounter } : undefined;
  } catch {
    return undefined;
  }
}

const asPublicKey = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  clientExtensionResults: {},
});

/**
 * The challenge of the browser's data. Undefined unless it is of this type, by this origin and in no frame of
 * another page, which the library does not check for each type.
 */
function challengeOf(clientData: string, type: string, origin: string): string | undefined {
  try {
    const given = parseJson(Buffer.from(clientData, 'base64url').toString());
    const { challenge, crossOrigin = false, topOrigin, ...rest } = given as Record<string, unknown>;
    const expected = isDeepStrictEqual(
      [rest.type, rest.origin, crossOrigin, topOrigin],
      [type, origin, false, undefined],
    );
    return expected && typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}
