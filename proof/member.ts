import { setTimeout as sleep } from 'node:timers/promises';
import { SCOPES } from '../domain/permissions.ts';
import {
  anyAddress,
  mark,
  retryUntilAnswered,
  type SharedRunState,
  secret,
  uuid,
} from './client.ts';
import { type Answer, done, type Request } from './history.ts';
import { asMessage, fromMessage } from './protocols.ts';
import type { Random } from './random.ts';
import { createProofSession } from './session.ts';

export interface Credential {
  credential_id: string;
  credential_secret: string;
}

export type Member = ReturnType<typeof createProofMember>;

interface Manner {
  used?: Credential | undefined;
  copies?: number;
  patience?: number;
}

const LONG_SECONDS = 80_000;

/** A member with its keys, credentials and session, shared by several concurrent hands. */
export function createProofMember(common: SharedRunState, random: Random, handle: string) {
  const { call, history } = common;
  const id = uuid(random);
  const words = mark(random);
  history.words.set(id, words);
  let keys = { sign_in_key: secret(random, history), recovery_key: secret(random, history) };
  let credential: Credential | undefined;
  let gone = false;
  let renewing: Promise<void> | undefined;
  const own = { notes: [] as string[], artifacts: [] as string[] };
  const session = createProofSession(common, random, id, () => keys.sign_in_key);

  const bearer = (of = credential) => `Bearer svc_${of?.credential_id}.${of?.credential_secret}`;
  const from = (address: string) => ({ 'x-forwarded-for': address });

  /** Sends a POST that its body authenticates, by default from an address below every limit. */
  function post(
    operation: string,
    path: string,
    body: object,
    more: { key?: string; headers?: Record<string, string>; copies?: number; address?: string },
  ): Promise<Answer | undefined> {
    const { key, headers, copies = 1, address = anyAddress(random) } = more;
    const request: Request = {
      method: 'POST',
      path,
      body,
      headers: { ...from(address), ...headers },
    };
    const patience = 1000;
    const send = () => call(request);
    const named = key ? { key } : {};
    return retryUntilAnswered(common, random, {
      operation,
      actor: id,
      address,
      ...named,
      copies,
      patience,
      send,
    });
  }

  async function register(address = anyAddress(random)): Promise<boolean> {
    const body = { id, handle, ...keys };
    const copies = random.chance(0.2) ? 2 : 1;
    const named = { key: id, copies, address };
    const answer = await post('membership.register', '/api/membership/register', body, named);
    gone = !done(answer);
    return !gone;
  }

  function newCredential(seconds = LONG_SECONDS) {
    const made = { credential_id: uuid(random), credential_secret: secret(random, history) };
    return { ...made, scopes: SCOPES, expires_at: Math.floor(Date.now() / 1000) + seconds };
  }

  async function bootstrap(seconds?: number, copies = 1): Promise<Credential | undefined> {
    const made = newCredential(seconds);
    const key = uuid(random);
    const body = { member_id: id, sign_in_key: keys.sign_in_key, ...made };
    const more = { key, headers: { 'idempotency-key': key }, copies };
    const answer = await post('credential.bootstrap', '/api/v1/credentials', body, more);
    return done(answer) ? made : undefined;
  }

  /** Replaces a credential that is no longer accepted; concurrent callers share one renewal. */
  function renew(): Promise<void> {
    renewing ??= (async () => {
      credential = (await bootstrap()) ?? credential;
      const answer = await call({ method: 'GET', path: '/api/v1/me', headers: authorized() });
      // The limit of active credentials is reached and their secrets are lost: recover the account.
      if (answer?.status === 401 && !gone && (await recover())) credential = await bootstrap();
    })().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  const authorized = (used = credential) => ({ authorization: bearer(used) });

  /** A mutation of `/api/v1`; all its attempts, over HTTP or A2A, share one idempotency key. */
  async function write(
    operation: string,
    path: string,
    body: object,
    { used = credential, copies, patience }: Manner = {},
  ): Promise<Answer | undefined> {
    const key = uuid(random);
    const headers = authorized(used);
    const request = { method: 'POST', path, body, headers };
    const message = asMessage(operation, key, request);
    const answer = await retryUntilAnswered(common, random, {
      operation,
      actor: id,
      address: '',
      key,
      credential: used?.credential_id,
      patience: patience ?? (random.chance(0.15) ? 0 : 60),
      copies: copies ?? (random.chance(0.1) ? 3 : 1),
      again: random.chance(0.15),
      send: async () =>
        message && random.chance(0.3)
          ? fromMessage(await call(message))
          : call({ ...request, headers: { ...headers, 'idempotency-key': key } }),
    });
    if (answer?.status === 401 && used === credential && !gone) await renew();
    return answer;
  }

  async function read(path: string): Promise<Answer | undefined> {
    const answer = await call({ method: 'GET', path, headers: authorized() });
    if (answer?.status === 500) history.wrong.push(`GET ${path}: answered 500`);
    return answer;
  }

  /** Rotates a credential; if the answer is lost, the new bearer repeats the request. */
  async function rotate(used = credential): Promise<void> {
    const made = newCredential();
    const key = uuid(random);
    const request = { method: 'POST', path: '/api/v1/me/credentials/rotate', body: made };
    const as = (by: Credential | undefined) =>
      call({ ...request, headers: { ...authorized(by), 'idempotency-key': key } });
    const answer = await retryUntilAnswered(common, random, {
      operation: 'credential.rotate',
      actor: id,
      address: '',
      key,
      credential: used?.credential_id,
      send: async () => {
        const before = await as(used);
        return before?.status === 401 ? as(made) : before;
      },
    });
    if (done(answer) && used === credential) credential = made;
  }

  const revoke = (of: Credential) =>
    write('credential.revoke', '/api/v1/me/credentials/revoke', {
      credential_id: of.credential_id,
    });

  /** Replaces both keys, which ends every credential and session. */
  async function recover(): Promise<boolean> {
    const made = { sign_in_key: secret(random, history), recovery_key: secret(random, history) };
    const operation_id = uuid(random);
    const body = {
      id,
      recovery_key: keys.recovery_key,
      new_sign_in_key: made.sign_in_key,
      new_recovery_key: made.recovery_key,
      operation_id,
    };
    const copies = random.chance(0.3) ? 2 : 1;
    const more = { key: operation_id, copies };
    const answer = await post('membership.recover', '/api/membership/recover', body, more);
    session.forget();
    // If the outcome is unknown, so are the current keys, and the account is lost.
    if (done(answer)) keys = made;
    else gone = true;
    return !gone;
  }

  async function remove(): Promise<void> {
    const body = { confirm_handle: handle, erase_notes: random.chance(0.5) };
    const answer = await write('account.delete', '/api/v1/me/delete', body);
    gone = answer === undefined || done(answer);
    if (!gone) await sleep(100);
  }

  /** Deletes the account, unless access to it is lost, to free its seat. */
  async function leave(): Promise<void> {
    for (let turn = 0; !gone && turn < 5; turn++) {
      if (!credential) await renew();
      await remove();
    }
  }

  return {
    id,
    handle,
    words,
    own,
    register,
    bootstrap,
    renew,
    write,
    read,
    rotate,
    revoke,
    recover,
    remove,
    leave,
    bearer,
    post,
    session,
    credential: () => credential,
    gone: () => gone,
  };
}
