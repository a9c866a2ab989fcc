import { type Answer, call } from '../shared/api.ts';
import { randomHex, randomUuid } from '../shared/random.ts';

const MINUTES = 600;

/**
 * Deletes the account by a credential made for this alone. `run` may be called again after any
 * failure: it repeats the same requests, and knows an account that was deleted unheard.
 */
export function deletion(member: { id: string; handle: string }) {
  const credential = { credential_id: randomUuid(), credential_secret: randomHex(32) };
  const bearer = {
    authorization: `Bearer svc_${credential.credential_id}.${credential.credential_secret}`,
  };
  const made = randomUuid();
  const deleted = randomUuid();
  let expiresAt: number | undefined;
  let asked = false;

  /** By the service's clock: this device's may be wrong. */
  async function expiry(): Promise<number> {
    const status = await call('GET', '/api/v1/status');
    const date = status.kind === 'done' ? Date.parse(status.headers.get('date') ?? '') : Number.NaN;
    return Math.floor((Number.isNaN(date) ? Date.now() : date) / 1000) + MINUTES;
  }

  async function run(signInKey: string, eraseNotes: boolean): Promise<Answer<unknown>> {
    if (asked) {
      const me = await call('GET', '/api/v1/me', { headers: bearer });
      if (me.kind === 'problem' && me.status === 401)
        return { kind: 'done', status: 200, body: {}, headers: new Headers() };
    }
    expiresAt ??= await expiry();
    const created = await call('POST', '/api/v1/credentials', {
      headers: { 'idempotency-key': made },
      body: {
        member_id: member.id,
        sign_in_key: signInKey,
        ...credential,
        scopes: ['account:delete'],
        expires_at: expiresAt,
      },
    });
    if (created.kind !== 'done') return created;
    asked = true;
    return call('POST', '/api/v1/me/delete', {
      headers: { ...bearer, 'idempotency-key': deleted },
      body: { confirm_handle: member.handle, erase_notes: eraseNotes },
    });
  }

  return run;
}
