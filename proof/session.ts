import { anyAddress, retryUntilAnswered, type SharedRunState } from './client.ts';
import { type Answer, done } from './history.ts';
import type { Random } from './random.ts';

/** The id of a session in the log, from its cookie. */
export const sessionId = (cookie: string | undefined) =>
  /=([0-9a-f-]{36})\./.exec(cookie ?? '')?.[1];

/** Signs in a member or a moderator and returns the cookie of the session. */
export async function signIn(
  common: SharedRunState,
  random: Random,
  {
    operation,
    actor,
    path,
    body,
  }: Record<'operation' | 'actor' | 'path', string> & { body: object },
): Promise<string | undefined> {
  const address = anyAddress(random);
  const headers = { 'x-forwarded-for': address };
  let cookie: string | undefined;
  await retryUntilAnswered(common, random, {
    operation,
    actor,
    address,
    get subject() {
      return sessionId(cookie) ?? '';
    },
    send: async () => {
      const answer = await common.call({ method: 'POST', path, body, headers });
      cookie = answer?.cookie;
      if (cookie) common.history.secrets.add(cookie.split('.').at(-1) ?? '');
      return answer;
    },
  });
  return cookie;
}

/** Records a violation if a session is accepted after its end was acknowledged. */
export async function expectEnded(
  { call, history }: SharedRunState,
  path: string,
  cookie: string,
): Promise<void> {
  const answer = await call({ method: 'GET', path, headers: { cookie } });
  if (done(answer)) history.wrong.push(`GET ${path}: answered to a session that had ended`);
}

/** A member's browser session, shared by several concurrent hands. */
export function createProofSession(
  common: SharedRunState,
  random: Random,
  id: string,
  signInKey: () => string,
) {
  const { call } = common;
  let cookie: string | undefined;

  async function begin(): Promise<string | undefined> {
    const body = { id, sign_in_key: signInKey() };
    const path = '/api/membership/login';
    cookie = await signIn(common, random, { operation: 'membership.login', actor: id, path, body });
    return cookie;
  }

  /** Sends a POST with the session's cookie; operations without receipt name only a subject. */
  function post(
    operation: string,
    path: string,
    body: object,
    named: { key?: string; subject?: string },
  ): Promise<Answer | undefined> {
    const address = anyAddress(random);
    const headers = { 'x-forwarded-for': address, cookie: cookie ?? '' };
    const send = () => call({ method: 'POST', path, body, headers });
    return retryUntilAnswered(common, random, { operation, actor: id, address, ...named, send });
  }

  async function end(): Promise<void> {
    const old = cookie ?? '';
    const subject = sessionId(old);
    if (!subject) return;
    const answer = await post('membership.logout', '/api/membership/logout', {}, { subject });
    cookie = undefined;
    if (done(answer)) await expectEnded(common, '/api/membership/me', old);
  }

  function forget(): void {
    cookie = undefined;
  }

  return { begin, post, end, forget, cookie: () => cookie };
}
