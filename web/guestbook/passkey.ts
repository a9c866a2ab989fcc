import type { Body } from '../../services/pages/view.ts';
import type { passkeysContract } from '../../services/passkeys/contract.ts';
import { type Answer, call } from '../shared/api.ts';

type Contract = typeof passkeysContract;
type CreationOptions = Body<Contract, 'passkey.challenge'>['options'];
type RequestOptions = Body<Contract, 'passkey.sign_in_challenge'>['options'];
export type Passkey = Body<Contract, 'passkey.list'>['passkeys'][number];

/** A dialog of the browser that ended without a passkey, and what to say of it. */
export interface Unanswered {
  kind: 'unanswered';
  message: string;
}

const PATH = '/api/membership/passkeys';

export const supportsPasskeys = (): boolean => typeof PublicKeyCredential === 'function';

export const listPasskeys = () => call<{ passkeys: Passkey[] }>('GET', PATH);

export const changePasskey = (action: 'rename' | 'remove', body: object) =>
  call<{ passkey: Passkey }>('POST', `${PATH}/${action}`, { body });

/** Makes a passkey with an authenticator and adds it to the account. */
export async function addPasskey(
  name: string,
  signInKey: string,
): Promise<Answer<{ passkey: Passkey }> | Unanswered> {
  const asked = await call<{ options: CreationOptions }>('POST', `${PATH}/challenge`, { body: {} });
  if (asked.kind !== 'ok') return asked;
  const made = await ask(() => create(asked.body.options));
  if ('kind' in made) return made;
  return call('POST', PATH, { body: { name, sign_in_key: signInKey, credential: made } });
}

/** How a passkey is asked for: by a dialog of the browser, or among what it offers to fill in. */
export type PasskeyRequest = Pick<CredentialRequestOptions, 'mediation' | 'signal'>;

/** Whether the browser offers passkeys where it fills in a field. */
export const offersPasskeys = async (): Promise<boolean> =>
  supportsPasskeys() &&
  (await PublicKeyCredential.isConditionalMediationAvailable?.().catch(() => false)) === true;

/** Opens a session with a passkey that an authenticator has for this site. */
export async function openWithPasskey(
  request: PasskeyRequest = {},
): Promise<Answer<unknown> | Unanswered> {
  const path = `${PATH}/session`;
  const asked = await call<{ options: RequestOptions }>('POST', `${path}/challenge`, { body: {} });
  if (asked.kind !== 'ok') return asked;
  const proof = await ask(() => get(asked.body.options, request));
  if ('kind' in proof) return proof;
  return call('POST', path, { body: { credential: proof } });
}

async function create({ challenge, user, excludeCredentials, ...rest }: CreationOptions) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...rest,
      challenge: toBytes(challenge),
      user: { ...user, id: toBytes(user.id) },
      excludeCredentials: excludeCredentials.map(({ id, transports, type }) => ({
        type,
        id: toBytes(id),
        transports: transports as AuthenticatorTransport[],
      })),
    },
  });
  const { id, response } = made as PublicKeyCredential & {
    response: AuthenticatorAttestationResponse;
  };
  return {
    id,
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

async function get({ challenge, ...rest }: RequestOptions, request: PasskeyRequest) {
  const proof = await navigator.credentials.get({
    ...request,
    publicKey: { ...rest, challenge: toBytes(challenge) },
  });
  const { id, response } = proof as PublicKeyCredential & {
    response: AuthenticatorAssertionResponse;
  };
  return {
    id,
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      userHandle: response.userHandle ? toText(response.userHandle) : '',
    },
  };
}

/** Runs a dialog of the browser, which also throws when people close it. */
async function ask<Result extends object>(
  dialog: () => Promise<Result>,
): Promise<Result | Unanswered> {
  try {
    return await dialog();
  } catch (error) {
    const known = error instanceof DOMException && error.name === 'InvalidStateError';
    return {
      kind: 'unanswered',
      message: known
        ? 'This device already has a passkey of your account.'
        : 'No passkey was used: the dialog was closed, or the device has none for this site.',
    };
  }
}

// Browsers before 2025 lack `parseCreationOptionsFromJSON` and `toJSON`.
const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) =>
    letter.charCodeAt(0),
  );

const toText = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
