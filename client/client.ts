import { createBearer, type Keeper, type Session } from './bearer.ts';
import { Call } from './call.ts';
import type { Identity } from './identity.ts';
import { type CallOptions, type Input, toOperation } from './operation.ts';
import { type Caller, createResources } from './resources.ts';
import type { Operations } from './schema.ts';
import {
  normalizeBaseUrl,
  type Operation,
  ProblemError,
  pause,
  type SendOptions,
  send,
} from './send.ts';
import { createSessions } from './sessions.ts';
import { follow, type UpdatesOptions } from './updates.ts';
import type { CredentialReply, MemberReply, MeReply, Scope, UpdatesPage } from './wire.ts';

export interface ClientOptions {
  /** The address of the service, equal to its BASE_URL. */
  baseUrl: string;
  identity: Identity;
  /** The scopes of the credential. With `credential:manage` the client can rotate it. */
  scopes?: readonly Scope[];
  /** Stores the credential between two runs of this client. By default only in memory. */
  keeper?: Keeper;
  /** Lifetime of a credential in seconds, 60 to 86400; half a day by default. */
  lifetime?: number;
  /** Seconds before expiry at which a credential is replaced; a tenth of `lifetime` by default. */
  renewBefore?: number;
  /**
   * Milliseconds for which one operation is retried, 15 minutes by default. Updates have no limit.
   */
  patience?: number;
  /** Timeout of one attempt in milliseconds, 30 seconds by default. */
  timeout?: number;
  /** Waits between two attempts. */
  pause?: SendOptions['pause'];
  /** Called before each retry with the failure and the pause in milliseconds, for a log. */
  onRetry?: SendOptions['onRetry'];
  /** Ends every operation of the client. */
  signal?: AbortSignal;
  /** Sends the requests, such as a `fetch` with a proxy; the global one by default. */
  fetch?: typeof fetch;
  /** Called before each attempt, for a log: with the path, and no secret. */
  onRequest?: SendOptions['onRequest'];
  /** Called after each answer, for a log. */
  onResponse?: SendOptions['onResponse'];
}

const MINUTE = 60_000;
const HALF_A_DAY = 43_200;

export type Client = ReturnType<typeof createClient>;

/**
 * Creates a client that acts as one member of the service. A request without a response, or with a
 * 408, 429, 502, 503 or 504, is sent again with the same key and the same bytes.
 *
 * Throws a `TypeError` for an invalid `baseUrl`. Operations throw `ProblemError` (the service
 * refused), `NoAnswerError` (no answer within `patience`), `UnreadableReplyError` (a 2xx that
 * the service never sends), and any error of the keeper.
 */
export function createClient(options: ClientOptions) {
  const { identity, signal, lifetime = HALF_A_DAY } = options;
  const baseUrl = normalizeBaseUrl(options.baseUrl);
  let skew = 0;

  const sending: SendOptions = {
    baseUrl,
    patience: options.patience ?? 15 * MINUTE,
    timeout: options.timeout ?? MINUTE / 2,
    pause: options.pause ?? pause,
    onRetry: options.onRetry,
    heard: (date) => {
      skew = date - Date.now();
    },
    signal,
    fetch: options.fetch ?? fetch,
    onRequest: options.onRequest,
    onResponse: options.onResponse,
  };

  const bearer = createBearer({
    identity,
    scopes: options.scopes ?? ['updates:read', 'credential:manage'],
    keeper: options.keeper ?? inMemory(),
    lifetime,
    renewBefore: options.renewBefore ?? lifetime / 10,
    now: () => Date.now() + skew,
    send: (operation, authorization) => send(sending, operation, authorization),
  });

  /**
   * Sends an operation with a valid bearer. A bearer that was revoked meanwhile is replaced once.
   */
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
      if (error.code === 'unknown') throw error;
      await bearer.refused(used);
      return run();
    }
  }

  const write = <Reply>(path: string, body: object, key: string = crypto.randomUUID()) =>
    new Call(authorized<Reply>({ method: 'POST', path, key, body: JSON.stringify(body) }));

  const read = <Reply>(path: string) => new Call(authorized<Reply>({ method: 'GET', path }));

  type Reply<Of extends keyof Operations> = Operations[Of]['reply'];
  const caller: Caller = {
    asMember: <Of extends keyof Operations>(id: Of, input: Input<Of>, given?: CallOptions) => {
      const operation = toOperation(id, input, given);
      const key = operation.method === 'POST' && (given?.idempotencyKey ?? crypto.randomUUID());
      return new Call(authorized<Reply<Of>>({ ...operation, ...(key ? { key } : {}) }));
    },
    anonymously: <Of extends keyof Operations>(id: Of, input: Input<Of>, given?: CallOptions) =>
      new Call(send<Reply<Of>>(sending, toOperation(id, input, given))),
  };
  const sessions = createSessions(
    (id, input, given, cookie) =>
      send(sending, {
        ...toOperation(id, input, given),
        origin: true,
        cookie,
        // The key is that of the operation, and not of the request that opens its session.
        ...(cookie && given?.idempotencyKey ? { key: given.idempotencyKey } : {}),
      }),
    identity,
  );

  return {
    ...createResources(caller, sessions, identity),

    /** Registers the member. Also succeeds if the same identity is already registered. */
    register(given?: CallOptions): Call<MemberReply> {
      const { id, handle, sign_in_key, recovery_key } = identity;
      const body = { id, handle, sign_in_key, recovery_key };
      const operation = toOperation('membership.register', { body }, given);
      return new Call(send(sending, { ...operation, origin: true }));
    },

    /** Returns the member, the credential in use, and the write budget of today. */
    me: () => read<MeReply>('/api/v1/me'),

    /** Sends a GET to a path of the API, with its query, and returns the parsed body. */
    read,

    /**
     * Sends a POST to a path of the API and returns the parsed body. `key` is the idempotency key,
     * random by default. To survive a crash, save the key and the body before the call and repeat
     * both after the crash: the service returns the same receipt.
     */
    write,

    /** Revokes a credential of the member. */
    revoke: (credentialId: string, key?: string) =>
      write<CredentialReply>('/api/v1/me/credentials/revoke', { credential_id: credentialId }, key),

    /** Replaces the credential now. */
    async renew(): Promise<void> {
      await bearer.renew();
    },

    /** Yields events after a cursor: `for await (const event of client.updates({ cursor })) …` */
    updates: (following: UpdatesOptions = {}) =>
      follow(async (path, held) => {
        const operation = { method: 'GET', path, held, signal: following.signal } as const;
        return (await authorized<UpdatesPage>(operation, Infinity)).data;
      }, following),
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
