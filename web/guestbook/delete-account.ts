import { type Answer, call, type Problem } from '../shared/api.ts';
import { serviceNow, syncClock } from '../shared/clock.ts';
import { randomHex, randomUuid } from '../shared/random.ts';

const LIFETIME_SECONDS = 600;

/** A credential to create. The fixed ids and idempotency key make the request safe to retry. */
const createCredential = () => ({
  key: randomUuid(),
  id: randomUuid(),
  secret: randomHex(32),
  expiresAt: undefined as number | undefined,
});

/**
 * Deletes the account with a credential created only for this purpose. The returned function can be
 * called again after any failure. After a deletion request, a 401 for the credential means that the
 * account is deleted or that the credential has ended. If the service then issues a new credential,
 * the account still exists.
 */
export function createDeletion(member: { id: string; handle: string }) {
  let credential = createCredential();
  const deletionKey = randomUuid();
  let requested = false;

  const bearer = () => ({ authorization: `Bearer svc_${credential.id}.${credential.secret}` });

  /** Unix seconds by the service's clock, because this device's clock can be wrong. */
  async function expiry(): Promise<number> {
    const status = await call('GET', '/api/v1/status');
    if (status.kind === 'ok') syncClock(status.headers);
    return Math.floor(serviceNow() / 1000) + LIFETIME_SECONDS;
  }

  async function requestCredential(signInKey: string): Promise<Answer<unknown>> {
    credential.expiresAt ??= await expiry();
    return call('POST', '/api/v1/credentials', {
      headers: { 'idempotency-key': credential.key },
      body: {
        member_id: member.id,
        sign_in_key: signInKey,
        credential_id: credential.id,
        credential_secret: credential.secret,
        scopes: ['account:delete'],
        expires_at: credential.expiresAt,
      },
    });
  }

  async function run(signInKey: string, eraseNotes: boolean): Promise<Answer<unknown>> {
    const ended = requested && isRefused(await call('GET', '/api/v1/me', { headers: bearer() }));
    if (ended) credential = createCredential();
    const answer = await requestCredential(signInKey);
    if (ended && isRefused(answer)) return { ...answer, code: 'deletion_unconfirmed' };
    if (answer.kind !== 'ok') return answer;
    requested = true;
    return call('POST', '/api/v1/me/delete', {
      headers: { ...bearer(), 'idempotency-key': deletionKey },
      body: { confirm_handle: member.handle, erase_notes: eraseNotes },
    });
  }

  return run;
}

const isRefused = (answer: Answer<unknown>): answer is Problem =>
  answer.kind === 'problem' && answer.status === 401;
