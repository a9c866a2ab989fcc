import { type Answer, call, type Problem } from '../shared/api.ts';
import { heardTime, serviceNow } from '../shared/clock.ts';
import { randomHex, randomUuid } from '../shared/random.ts';

const LIFETIME_SECONDS = 600;

/** A credential that is to be made, by a request that can be repeated. */
const newCredential = () => ({
  key: randomUuid(),
  id: randomUuid(),
  secret: randomHex(32),
  expiresAt: undefined as number | undefined,
});

/**
 * Deletes the account by a credential made for this alone. `run` may be called again after any
 * failure. Once the deletion was asked for, a refusal of the credential may mean that it was done
 * unheard, or that the credential ended; where a new one can be made, the account lives.
 */
export function deletion(member: { id: string; handle: string }) {
  let credential = newCredential();
  const deleted = randomUuid();
  let asked = false;

  const bearer = () => ({ authorization: `Bearer svc_${credential.id}.${credential.secret}` });

  /** By the service's clock: this device's may be wrong. */
  async function expiry(): Promise<number> {
    const status = await call('GET', '/api/v1/status');
    if (status.kind === 'done') heardTime(status.headers);
    return Math.floor(serviceNow() / 1000) + LIFETIME_SECONDS;
  }

  async function create(signInKey: string): Promise<Answer<unknown>> {
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
    const ended = asked && isRefused(await call('GET', '/api/v1/me', { headers: bearer() }));
    if (ended) credential = newCredential();
    const created = await create(signInKey);
    if (ended && isRefused(created)) return { ...created, code: 'deletion_unconfirmed' };
    if (created.kind !== 'done') return created;
    asked = true;
    return call('POST', '/api/v1/me/delete', {
      headers: { ...bearer(), 'idempotency-key': deleted },
      body: { confirm_handle: member.handle, erase_notes: eraseNotes },
    });
  }

  return run;
}

const isRefused = (answer: Answer<unknown>): answer is Problem =>
  answer.kind === 'problem' && answer.status === 401;
