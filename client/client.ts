import { type Keeper, openBearer, type Session } from './bearer.ts';
import type { Identity } from './identity.ts';
import { type Operation, ProblemError, pause, type SendOptions, send } from './send.ts';
import { follow, type UpdatesOptions } from './updates.ts';
import type { CredentialReply, MemberReply, MeReply, Scope, UpdatesPage } from './wire.ts';

export interface ClientOptions {
  /** As the service knows it, without a slash at the end. */
  baseUrl: string;
  identity: Identity;
  /** `credential:manage` among them: the client rotates its credential before it ends. */
  scopes?: readonly Scope[];
  /** Where the credential is kept between two lives of this client; nowhere, if it is left out. */
  keeper?: Keeper;
  /** Seconds that a credential is made for (60 to 86400), and before its end that it is replaced. */
  lifetime?: number;
  renewBefore?: number;
  /** Milliseconds that one operation is tried for; updates are asked for without an end. */
  patience?: number;
  /** Milliseconds after which an answer counts as lost. */
  timeout?: number;
  /** How the client waits between two attempts. */
  pause?: SendOptions['pause'];
  /** Ends whatever is under way. */
  signal?: AbortSignal;
}

const MINUTE = 60_000;
const HALF_A_DAY = 43_200;

export type Client = ReturnType<typeof openClient>;

/**
 * A member of the service. A write that gets no answer, or a 503, is sent again: the same key, the
 * same bytes. Errors are `ProblemError` (the service said no) and `NoAnswerError`.
 */
export function openClient(options: ClientOptions) {
  const { baseUrl, identity, signal, lifetime = HALF_A_DAY } = options;
  let skew = 0;

  const sending: SendOptions = {
    baseUrl,
    patience: options.patience ?? 15 * MINUTE,
    timeout: options.timeout ?? MINUTE / 2,
    pause: options.pause ?? pause,
    heard: (date) => {
      skew = date - Date.now();
    },
    signal,
  };

  const bearer = openBearer({
    identity,
    scopes: options.scopes ?? ['updates:read', 'credential:manage'],
    keeper: options.keeper ?? inMemory(),
    lifetime,
    renewBefore: options.renewBefore ?? lifetime / 10,
    now: () => Date.now() + skew,
    send: (operation, authorization) => send(sending, operation, authorization),
  });

  /** With a live bearer at each attempt; one that was revoked meanwhile is replaced, once. */
  async function authorized<Reply>(operation: Operation, patience = sending.patience) {
    let used = '';
    const ask = async () => {
      used = await bearer.current();
      return used;
    };
    const run = () => send<Reply>({ ...sending, patience }, operation, ask);
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 401 || !used) throw error;
      await bearer.refused(used);
      return run();
    }
  }

  const write = <Reply>(path: string, body: object, key: string = crypto.randomUUID()) =>
    authorized<Reply>({ method: 'POST', path, key, body: JSON.stringify(body) });

  const read = <Reply>(path: string) => authorized<Reply>({ method: 'GET', path });

  return {
    /** Makes the member, or finds that these very values made it before. */
    register(): Promise<MemberReply> {
      const { id, handle, sign_in_key, recovery_key } = identity;
      const body = JSON.stringify({ id, handle, sign_in_key, recovery_key });
      return send(sending, {
        method: 'POST',
        path: '/api/membership/register',
        origin: true,
        body,
      });
    },

    me: () => read<MeReply>('/api/v1/me'),

    /** Any GET of the API. */
    read,

    /**
     * Any POST of the API. A client that may be killed before it has the answer saves the key and
     * the body first, and gives the same key again: the service then answers the same receipt.
     */
    write,

    revoke: (credentialId: string, key?: string) =>
      write<CredentialReply>('/api/v1/me/credentials/revoke', { credential_id: credentialId }, key),

    /** Replaces the credential before its time. */
    async renew(): Promise<void> {
      await bearer.renew();
    },

    /** The member's events from a cursor on: `for await (const event of client.updates({ … }))`. */
    updates: (following: UpdatesOptions = {}) =>
      follow(
        (path, held) => authorized<UpdatesPage>({ method: 'GET', path, held }, Infinity),
        following,
      ),
  };
}

function inMemory(): Keeper {
  let kept: Session | undefined;
  return {
    load: () => kept,
    save: (session) => {
      kept = session;
    },
  };
}
