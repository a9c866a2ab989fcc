import { z } from 'zod';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  EmptyBody,
  GivenUuid,
  Key,
  Text,
  Timestamp,
} from '../../platform/http/schemas.ts';
import { KEY_ATTEMPTS, SIGNED_IN } from '../membership/contract.ts';

/** Challenges are answered by attempts with keys, so an address gets as many. */
export const PASSKEY_CHALLENGES = {
  kind: 'passkey-challenges',
  window: '10 minutes',
  setting: 'limitKeyAttempts',
  per: 'address',
  counts: 'challenges for passkeys',
} as const satisfies RateLimit;

/** An answer with a key of RS256 has about 1 KB, one of ES256 about 500 bytes. */
const BODY_LIMIT = 8192;

/** Bytes as WebAuthn's JSON has them: base64url without padding. */
const Bytes = (max: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
    .max(max);

const CredentialId = Bytes(1364);
const Name = Text(1, 60);

export const Passkey = z
  .object({
    id: AnyUuid,
    name: z.string(),
    added_at: Timestamp,
    last_used_on: z.iso.date().nullable(),
  })
  .meta({ id: 'Passkey', description: 'A passkey, without its key' });

const PasskeyReply = <const Status extends string>(status: Status, id: string) =>
  z.object({ status: z.literal(status), passkey: Passkey }).meta({ id });

const Passkeys = z
  .object({ status: z.literal('ok'), passkeys: z.array(Passkey) })
  .meta({ id: 'Passkeys' });

const CredentialDescriptor = z
  .object({
    type: z.literal('public-key'),
    id: z.string(),
    transports: z
      .array(z.string())
      .describe('How the authenticator is reached, such as `internal` or `usb`.'),
  })
  .meta({ id: 'PasskeyDescriptor', description: 'A passkey that the member has' });

const CreationOptions = z
  .object({
    challenge: z.string().describe('32 random bytes to sign, once; base64url.'),
    rp: z
      .object({ id: z.string(), name: z.string() })
      .describe('The service, as the authenticator shows it.'),
    user: z
      .object({
        id: z.string(),
        name: z.string(),
        displayName: z.string().describe("The member's handle."),
      })
      .describe('The member, as the authenticator keeps them.'),
    pubKeyCredParams: z
      .array(
        z.object({
          type: z.literal('public-key'),
          alg: z.int().describe('The id of an algorithm in COSE: -7 ES256, -8 EdDSA, -257 RS256.'),
        }),
      )
      .describe('The algorithms that are accepted.'),
    timeout: z.int().describe('Milliseconds until the challenge ends.'),
    excludeCredentials: z
      .array(CredentialDescriptor)
      .describe('The passkeys that the member has, so that no authenticator makes a second one.'),
    authenticatorSelection: z
      .object({
        residentKey: z
          .literal('required')
          .describe('The authenticator finds the passkey by itself.'),
        requireResidentKey: z
          .literal(true)
          .describe('The authenticator finds the passkey by itself.'),
        userVerification: z
          .literal('required')
          .describe('The authenticator checks a fingerprint, a face or a PIN.'),
      })
      .describe('What the authenticator must be able to do.'),
    attestation: z
      .literal('none')
      .describe('Whether the maker of the authenticator is asked for; never.'),
  })
  .meta({
    id: 'PasskeyCreationOptions',
    description: '`PublicKeyCredentialCreationOptionsJSON` of WebAuthn',
  });

const RequestOptions = z
  .object({
    challenge: z.string().describe('32 random bytes to sign, once; base64url.'),
    rpId: z.string().describe('The host that the passkey is bound to.'),
    timeout: z.int().describe('Milliseconds until the challenge ends.'),
    userVerification: z
      .literal('required')
      .describe('The authenticator checks a fingerprint, a face or a PIN.'),
  })
  .meta({
    id: 'PasskeyRequestOptions',
    description: '`PublicKeyCredentialRequestOptionsJSON` of WebAuthn',
  });

const toChallenge = <Options extends z.ZodType>(options: Options, id: string) =>
  z.object({ status: z.literal('ok'), expires_at: Timestamp, options }).meta({ id });

const NewPasskey = z
  .strictObject({
    name: Name,
    sign_in_key: Key,
    credential: z.strictObject({
      id: CredentialId,
      response: z.strictObject({
        clientDataJSON: Bytes(2048).describe(
          'What the browser says of the request: type, challenge and origin; base64url.',
        ),
        attestationObject: Bytes(4096).describe(
          'What the authenticator made: the public key and its data; base64url.',
        ),
        transports: z
          .array(Text(1, 20))
          .max(10)
          .optional()
          .describe('How the authenticator is reached, such as `internal` or `usb`.'),
      }),
    }),
  })
  .meta({ id: 'PasskeyRequest' });

const PasskeySignIn = z
  .strictObject({
    credential: z.strictObject({
      id: CredentialId,
      response: z.strictObject({
        clientDataJSON: Bytes(2048).describe(
          'What the browser says of the request: type, challenge and origin; base64url.',
        ),
        authenticatorData: Bytes(2048).describe(
          'What the authenticator signed, beside the hash of `clientDataJSON`; base64url.',
        ),
        signature: Bytes(1024).describe('The signature of the authenticator; base64url.'),
        userHandle: Bytes(86).describe(
          "The bytes of the member's id, which the authenticator has kept; base64url.",
        ),
      }),
    }),
  })
  .meta({ id: 'PasskeyAssertion' });

const PasskeyName = z
  .strictObject({ passkey_id: GivenUuid, name: Name })
  .meta({ id: 'PasskeyName' });

const PasskeySelection = z.strictObject({ passkey_id: GivenUuid }).meta({ id: 'PasskeySelection' });

const OFF = 'Where the base URL of the service cannot have passkeys: `api_disabled`.';

export const passkeysContract = defineContract({
  'passkey.list': {
    method: 'GET',
    path: '/api/membership/passkeys',
    summary: "The member's passkeys, newest first",
    description: 'At most 10, without their keys.',
    tag: 'passkeys',
    access: 'session',
    replies: { 200: { description: 'All of them', body: Passkeys } },
    problems: ['session_required'],
  },
  'passkey.challenge': {
    method: 'POST',
    path: '/api/membership/passkeys/challenge',
    summary: 'A challenge to add a passkey',
    description:
      '`options` is for `PublicKeyCredential.parseCreationOptionsFromJSON`. The challenge is for this session ' +
      `alone, is answered once, and lives for five minutes. ${OFF}`,
    tag: 'passkeys',
    access: 'session',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: EmptyBody,
    limits: [PASSKEY_CHALLENGES],
    replies: {
      200: {
        description: 'The options',
        body: toChallenge(CreationOptions, 'ChallengeToAddPasskey'),
      },
    },
    problems: ['session_required', 'api_disabled'],
  },
  'passkey.add': {
    method: 'POST',
    path: '/api/membership/passkeys',
    summary: 'Add a passkey, a further way to open a session',
    description:
      'With the answer of the authenticator to `…/challenge` and the sign-in key, which a session does not ' +
      'replace. A member has at most 10. A passkey opens sessions and nothing else; recovery, deletion and ' +
      'disabling end it. Attestation is neither asked for nor kept.',
    tag: 'passkeys',
    access: 'session',
    securityEvents: { failed: 'passkey_failed', succeeded: 'passkey_added' },
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: NewPasskey,
    limits: [KEY_ATTEMPTS],
    replies: {
      200: { description: 'Added', body: PasskeyReply('added', 'AddedPasskeyReply') },
    },
    problems: ['session_required', 'credentials_not_accepted', 'state_conflict', 'api_disabled'],
  },
  'passkey.rename': {
    method: 'POST',
    path: '/api/membership/passkeys/rename',
    summary: 'Rename a passkey',
    tag: 'passkeys',
    access: 'session',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: PasskeyName,
    replies: {
      200: { description: 'Renamed', body: PasskeyReply('renamed', 'RenamedPasskeyReply') },
    },
    problems: ['session_required', 'not_found'],
  },
  'passkey.remove': {
    method: 'POST',
    path: '/api/membership/passkeys/remove',
    summary: 'Remove a passkey',
    description: 'It opens no session any more; those that it opened live on.',
    tag: 'passkeys',
    access: 'session',
    securityEvents: { succeeded: 'passkey_removed' },
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: PasskeySelection,
    replies: {
      200: { description: 'Removed', body: PasskeyReply('removed', 'RemovedPasskeyReply') },
    },
    problems: ['session_required', 'not_found'],
  },
  'passkey.sign_in_challenge': {
    method: 'POST',
    path: '/api/membership/passkeys/session/challenge',
    summary: 'A challenge to sign in with a passkey',
    description:
      '`options` is for `PublicKeyCredential.parseRequestOptionsFromJSON`. It names no passkey: the ' +
      `authenticator knows whose it has. The challenge is for this address alone, is answered once, and lives for five minutes. ${OFF}`,
    tag: 'passkeys',
    access: 'public',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: EmptyBody,
    limits: [PASSKEY_CHALLENGES],
    replies: {
      200: {
        description: 'The options',
        body: toChallenge(RequestOptions, 'ChallengeOfPasskey'),
      },
    },
    problems: ['api_disabled'],
  },
  'passkey.sign_in': {
    method: 'POST',
    path: '/api/membership/passkeys/session',
    summary: 'Sign in with a passkey',
    description:
      'With the answer of the authenticator to `…/session/challenge`. All refusals are alike. If the counter ' +
      'of the authenticator went back, there is a copy of the passkey, which ends it.',
    tag: 'passkeys',
    access: 'public',
    securityEvents: { failed: 'sign_in_failed' },
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: PasskeySignIn,
    limits: [KEY_ATTEMPTS],
    replies: { 200: SIGNED_IN },
    problems: ['credentials_not_accepted', 'api_disabled'],
  },
});
