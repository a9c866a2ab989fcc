import { randomUUID } from 'node:crypto';
import { SCOPES, type Scope } from '../domain/permissions.ts';
import type { Api, ApiResponse } from './api.ts';
import { patient } from './patient.ts';
import { callUntilTaken, newKey, newRegistration } from './registration.ts';

export const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

export function newCredential(scopes: readonly Scope[] = SCOPES) {
  return {
    credential_id: randomUUID() as string,
    credential_secret: newKey(),
    scopes: [...scopes],
    expires_at: inSeconds(3600),
  };
}

export const toAuthorization = (credential: { credential_id: string; credential_secret: string }) =>
  `Bearer svc_${credential.credential_id}.${credential.credential_secret}`;

export type Agent = Awaited<ReturnType<typeof newAgent>>;

/** Registers a member with a scoped credential. Each write of `call` has a new idempotency key. */
export async function newAgent(
  service: Api,
  scopes?: readonly Scope[],
  more: { id?: string } = {},
) {
  const member = { ...newRegistration(), ...more };
  await callUntilTaken(service, 'POST', '/api/membership/register', { body: member });
  const credential = newCredential(scopes);
  const made = await bootstrap(patient(service), member, credential);
  if (made.status !== 201) throw new Error(made.text);
  const authorization = toAuthorization(credential);

  function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const key = method === 'GET' ? {} : { 'idempotency-key': randomUUID() };
    return service.call(method, path, { body, headers: { authorization, ...key, ...headers } });
  }

  return { ...member, credential, authorization, call };
}

/** Creates a credential for a member, authenticated by the sign-in key. */
export function bootstrap(
  service: Api,
  { id, sign_in_key }: { id: string; sign_in_key: string },
  credential: ReturnType<typeof newCredential>,
  key: string = randomUUID(),
): Promise<ApiResponse> {
  return service.call('POST', '/api/v1/credentials', {
    body: { member_id: id, sign_in_key, ...credential },
    headers: { 'idempotency-key': key },
  });
}
