import { randomUUID } from 'node:crypto';
import type { Role } from '../domain/permissions.ts';
import { isRefusal } from '../platform/refusal.ts';
import type { Core } from '../services/compose.ts';
import { addModerator as registerModerator } from '../services/moderation/staff/moderators.ts';
import type { Api } from './api.ts';
import { patient } from './patient.ts';

/** Adds a moderator who calls the API with a bearer token. */
export async function addModerator(
  service: Api & { core: Core },
  name: string,
  role: Role = 'moderator',
) {
  const added = await registerModerator(service.core, name, role);
  if (isRefusal(added)) throw new Error(added.refused);
  return atDesk(service, added);
}

/** API calls of an existing moderator, authenticated by bearer token. */
export function atDesk(service: Api, added: { id: string; token: string }) {
  const headers = { authorization: `Bearer ${added.token}` };
  return {
    ...added,
    get: (path: string) => service.call('GET', `/api/moderation/${path}`, { headers }),
    post: (path: string, body: object) =>
      service.call('POST', `/api/moderation/${path}`, { headers, body }),
  };
}

export type Moderator = ReturnType<typeof atDesk>;

/** The number of claims that a moderator holds. */
export const countClaims = async (moderator: Moderator): Promise<number> =>
  (await moderator.get('me')).body.leases.length;

/** Submits a note and returns its body; by default a guest writes it. */
export async function submit(service: Api, more: object = {}, cookie?: string) {
  const body = { id: randomUUID() as string, name: 'Ada', message: 'Hello', ...more };
  const answer = await patient(service).call('POST', '/api/guestbook', { body, cookie });
  // 200 is the receipt of an attempt without an answer.
  if (answer.status !== 202 && answer.status !== 200) throw new Error(answer.text);
  return body;
}

/** Submits a note attributed to a member. */
export const submitAs = (
  service: Api,
  { handle, cookie }: { handle: string; cookie: string },
  more: object = {},
) => submit(service, { name: '', attribution: 'member', member_handle: handle, ...more }, cookie);

export function decide(moderator: Moderator, noteId: string, action: 'approve' | 'reject') {
  return moderator.post(`notes/${noteId}/decisions`, {
    action,
    expected_version: 1,
    ...(action === 'reject' ? { policy: 'spam' } : {}),
  });
}
