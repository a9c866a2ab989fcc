import { randomBytes, randomUUID } from 'node:crypto';
import { type Api, type ApiResponse, type CallOptions, readCookie } from './api.ts';
import { patient } from './patient.ts';

/** A member key as clients generate it: 32 random bytes in hex. */
export const newKey = () => randomBytes(32).toString('hex');

let count = 0;

/** The body of a registration request. */
export function newRegistration() {
  count += 1;
  return {
    id: randomUUID() as string,
    // No handle contains another handle, so a search finds exactly one member.
    handle: `member_${count}_${randomBytes(4).toString('hex')}`,
    sign_in_key: newKey(),
    recovery_key: newKey(),
  };
}

/** Sends a command until a busy service accepts it, and throws if it is refused. */
export async function callUntilTaken(
  service: Api,
  method: string,
  path: string,
  options: CallOptions,
): Promise<ApiResponse> {
  const answer = await patient(service).call(method, path, options);
  if (answer.status < 400) return answer;
  throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
}

/** Registers a member and signs it in. */
export async function signedIn(service: Api) {
  const registration = newRegistration();
  await callUntilTaken(service, 'POST', '/api/membership/register', { body: registration });
  const { id, sign_in_key } = registration;
  const body = { id, sign_in_key };
  const login = await callUntilTaken(service, 'POST', '/api/membership/login', { body });
  return { ...registration, cookie: readCookie(login) };
}
