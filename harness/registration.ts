import { randomBytes, randomUUID } from 'node:crypto';
import { type Api, cookieOf } from './api.ts';

/** A key as members make them: 32 random bytes in hex. */
export const newKey = () => randomBytes(32).toString('hex');

let count = 0;

/** The body of a registration. */
export function newRegistration() {
  count += 1;
  return {
    id: randomUUID() as string,
    // No handle is part of another handle, so that a search finds exactly one.
    handle: `member_${count}_${randomBytes(4).toString('hex')}`,
    sign_in_key: newKey(),
    recovery_key: newKey(),
  };
}

/** A new member with a session. */
export async function signedIn(service: Api) {
  const registration = newRegistration();
  await service.call('POST', '/api/membership/register', { body: registration });
  const { id, sign_in_key } = registration;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  return { ...registration, cookie: cookieOf(login) };
}
