import { type Identity, newKey } from './identity.ts';
import { type Operation, ProblemError } from './send.ts';
import type { NewCredential, Scope } from './wire.ts';

/** The state that a client needs after a restart. It contains secrets: protect it like a key. */
export interface Session {
  credential?: NewCredential;
  /** A request that may have had no response. The client repeats it with the same key and body. */
  pending?: { key: string; how: 'bootstrap' | 'rotate'; next: NewCredential };
}

/** Stores the session. `save` resolves when the session would survive the end of the process. */
export interface Keeper {
  load(): Promise<Session | undefined> | Session | undefined;
  save(session: Session): Promise<void> | void;
  /**
   * Runs something while no other process that uses the same keeper does. Without it, each process needs a
   * keeper of its own.
   */
  exclusive?<Result>(run: () => Promise<Result>): Promise<Result>;
}

export interface BearerDeps {
  identity: Pick<Identity, 'id' | 'sign_in_key'>;
  scopes: readonly Scope[];
  keeper: Keeper;
  /** Lifetime of a new credential in seconds. */
  lifetime: number;
  /** Seconds before expiry at which a credential is replaced. */
  renewBefore: number;
  /** The service's clock, in milliseconds since the epoch. */
  now: () => number;
  send: (operation: Operation, authorization?: () => string) => Promise<unknown>;
}

const bearerOf = ({ credential_id: id, credential_secret: secret }: NewCredential) =>
  `Bearer svc_${id}.${secret}`;

export type Bearer = ReturnType<typeof createBearer>;

/**
 * Keeps a valid credential: creates it with the sign-in key, rotates it before it expires, and
 * creates another after a revocation. Every request is saved before it is sent, so that a restarted
 * client repeats the request instead of using up another of the member's ten credentials.
 */
export function createBearer(deps: BearerDeps) {
  const { identity, scopes, keeper, send } = deps;
  let session: Session | undefined;
  let running: Promise<string> | undefined;

  async function keep(next: Session): Promise<void> {
    await keeper.save(next);
    session = next;
  }

  function endsWithin(seconds: number, { expires_at: end }: NewCredential): boolean {
    return end * 1000 - deps.now() < seconds * 1000;
  }

  const exclusive = <Result>(run: () => Promise<Result>): Promise<Result> =>
    keeper.exclusive ? keeper.exclusive(run) : run();

  async function ensure(anew: boolean): Promise<string> {
    const kept = session?.pending ? undefined : session?.credential;
    if (kept && !anew && !endsWithin(deps.renewBefore, kept)) return bearerOf(kept);
    return exclusive(() => obtain(anew));
  }

  /** Finishes what another run began, and replaces the credential where that is necessary. */
  async function obtain(anew: boolean): Promise<string> {
    // Another process may have replaced the credential.
    if (!session || keeper.exclusive) session = (await keeper.load()) ?? {};
    if (session.pending) await finish(session.pending);
    const { credential } = session;
    if (credential && !anew && !endsWithin(deps.renewBefore, credential))
      return bearerOf(credential);
    await replace(credential);
    if (!session.credential) throw new Error('no credential could be made');
    return bearerOf(session.credential);
  }

  /**
   * Rotates the credential, or creates another if it cannot be rotated or the rotation is refused.
   */
  async function replace(credential: NewCredential | undefined): Promise<void> {
    const rotates =
      credential?.scopes.includes('credential:manage') &&
      scopes.every((scope) => credential.scopes.includes(scope)) &&
      !endsWithin(0, credential);
    if (rotates && (await begin('rotate'))) return;
    if (await begin('bootstrap')) return;
    // The refusal carried the service's clock: the first `expires_at` may have been out of range.
    await begin('bootstrap', true);
  }

  async function begin(how: 'bootstrap' | 'rotate', last = false): Promise<boolean> {
    const next = {
      credential_id: crypto.randomUUID(),
      credential_secret: newKey(),
      scopes,
      expires_at: Math.floor(deps.now() / 1000) + deps.lifetime,
    };
    const pending = { key: crypto.randomUUID(), how, next };
    await keep({ ...session, pending });
    return finish(pending, last);
  }

  /**
   * Returns true when the credential exists, and false when the request was refused and dropped.
   */
  async function finish(pending: NonNullable<Session['pending']>, last = false): Promise<boolean> {
    const old = session?.credential;
    try {
      if (pending.how === 'bootstrap') await bootstrap(pending);
      else await rotate(pending, old);
    } catch (error) {
      // An answer of something between says nothing about the request, which may have had its effect.
      if (!(error instanceof ProblemError) || error.status >= 500 || error.code === 'unknown')
        throw error;
      await keep(old ? { credential: old } : {});
      const mended = error.status === 400 || pending.how === 'rotate';
      if (last || !mended) throw error;
      return false;
    }
    await keep({ credential: pending.next });
    return true;
  }

  function bootstrap({ key, next }: NonNullable<Session['pending']>) {
    const { id, sign_in_key } = identity;
    const body = JSON.stringify({ member_id: id, sign_in_key, ...next });
    return send({ method: 'POST', path: '/api/v1/credentials', key, body });
  }

  async function rotate(
    { key, next }: NonNullable<Session['pending']>,
    old: NewCredential | undefined,
  ): Promise<void> {
    const path = '/api/v1/me/credentials/rotate';
    const operation = {
      method: 'POST',
      path,
      key,
      body: JSON.stringify(next),
      hasty: true,
    } as const;
    try {
      await send(operation, () => bearerOf(old ?? next));
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      // The rotation may have happened without a response. Then the new bearer gets its receipt or,
      // if the new bearer may not rotate, a read confirms it.
      const again = next.scopes.includes('credential:manage')
        ? operation
        : ({ method: 'GET', path: '/api/v1/me' } as const);
      await send(again, () => bearerOf(next));
    }
  }

  function once(anew: boolean): Promise<string> {
    running ??= ensure(anew).finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    /** Returns the value of `Authorization`, valid by the service's clock. */
    current: () => once(false),
    /** Replaces the credential now. */
    renew: () => once(true),
    /** Forgets a credential that the service no longer accepts. */
    async refused(authorization: string): Promise<void> {
      await running?.catch(() => undefined);
      await exclusive(async () => {
        if (keeper.exclusive) session = (await keeper.load()) ?? {};
        const { credential } = session ?? {};
        if (credential && bearerOf(credential) === authorization) await keep({});
      });
    },
  };
}
