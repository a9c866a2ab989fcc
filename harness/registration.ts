import { randomBytes, randomUUID } from 'node:crypto';
import { type Api, readCookie } from './api.ts';

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

/** Registers a member and signs it in. */
export async function signedIn(service: Api) {
  const registration = newRegistration();
  await service.call('POST', '/api/membership/register', { body: registration });
  const { id, sign_in_key } = registration;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  return { ...registration, cookie: readCookie(login) };
}
