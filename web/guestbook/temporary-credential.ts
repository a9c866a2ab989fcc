import { type Answer, call } from '../shared/api.ts';
import { randomHex, randomUuid } from '../shared/random.ts';
import { serviceNow, syncClock } from '../shared/time.tsx';

const LIFETIME_SECONDS = 600;

/** A credential for what a session may not do. Its fixed ids make the request safe to repeat. */
export interface TemporaryCredential {
  id: string;
  headers(): { authorization: string };
  /** Creates it, or finds that it was created. */
  request(signInKey: string): Promise<Answer<unknown>>;
}

/** Prepares a credential of a member that lives for ten minutes. Nothing is sent yet. */
export function temporaryCredential(
  memberId: string,
  scopes: readonly string[],
  label: string,
): TemporaryCredential {
  const idempotencyKey = randomUuid();
  const id = randomUuid();
  const secret = randomHex(32);
  let expiresAt: number | undefined;

  /** Unix seconds by the service's clock, because this device's clock can be wrong. */
  async function expiry(): Promise<number> {
    const status = await call('GET', '/api/v1/status');
    if (status.kind === 'ok') syncClock(status.headers);
    return Math.floor(serviceNow() / 1000) + LIFETIME_SECONDS;
  }

  return {
    id,
    headers: () => ({ authorization: `Bearer svc_${id}.${secret}` }),
    async request(signInKey) {
      expiresAt ??= await expiry();
      return call('POST', '/api/v1/credentials', {
        headers: { 'idempotency-key': idempotencyKey },
        body: {
          member_id: memberId,
          sign_in_key: signInKey,
          credential_id: id,
          credential_secret: secret,
          scopes,
          expires_at: expiresAt,
          label,
        },
      });
    },
  };
}
