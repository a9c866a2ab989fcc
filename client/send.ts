import type { Answer } from './call.ts';
import type { ErrorCode } from './schema.ts';
import type { Issue, ProblemBody } from './wire.ts';

/** The service refused a request, and an identical request would be refused again. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** The HTTP status. */
  readonly status: number;
  /**
   * The error code, such as `idempotency_conflict`; `unknown` if something else sent the response.
   */
  readonly code: ErrorCode | 'unknown';
  /** Narrows the code, such as `version_mismatch` for a `state_conflict`. */
  readonly reason: string | undefined;
  /** The invalid fields of the request, after an `invalid_request`. */
  readonly issues: readonly Issue[];
  /** Identifies this request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, as the service requested. */
  readonly retryAfter: number | undefined;
  /** Seconds until a used-up limit has room again. */
  readonly resetsIn: number | undefined;
  readonly body: ProblemBody;

  constructor(request: string, response: Response, body: ProblemBody) {
    const { message, reason, request_id } = body.error ?? {};
    const given: unknown = body.error?.issues;
    const issues = Array.isArray(given) ? (given.filter(Boolean) as Issue[]) : [];
    const code = reason === undefined ? body.status : `${body.status} (${reason})`;
    const resetsIn = secondsUntil(body.error?.resets_at, response.headers.get('date'));
    const details = [
      message ?? '',
      ...(typeof body.error?.scope === 'string' ? [`Scope: ${body.error.scope}.`] : []),
      ...(resetsIn === undefined ? [] : [`The limit ends in ${Math.ceil(resetsIn)} s.`]),
      issues.map((issue) => `${issue.path} ${issue.message}`).join('; '),
    ].filter(Boolean);
    super([`${request}: ${response.status} ${code}`, details.join(' ')].filter(Boolean).join(': '));
    this.status = response.status;
    this.code = body.status as ErrorCode;
    this.reason = reason;
    this.issues = issues;
    this.requestId = request_id ?? response.headers.get('x-request-id') ?? undefined;
    this.retryAfter = parseRetryAfter(response.headers.get('retry-after'));
    this.resetsIn = resetsIn;
    this.body = body;
  }
}

/** Seconds from the time of a response until a time that it names, both by the service's clock. */
function secondsUntil(time: unknown, date: string | null): number | undefined {
  const seconds = (Date.parse(String(time)) - Date.parse(date ?? '')) / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}

/**
 * The service did not answer within `patience`. A write may have happened: send it again with the
 * same key and body. `cause` is the last failure.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/**
 * Something answered 2xx with a body that the service never sends, such as a page for signing in to a network. A write may
 * have happened: send it again with the same key and body.
 */
export class UnreadableReplyError extends Error {
  override readonly name = 'UnreadableReplyError';
}

/** One operation. Every attempt sends the same bytes. */
export interface Operation {
  method: 'GET' | 'POST';
  /** Begins with a slash. */
  path: string;
  /** JSON text. */
  body?: string;
  /** The `Idempotency-Key`. */
  key?: string;
  /** Sends `Origin`, which the membership routes require. */
  origin?: boolean;
  /** Seconds for which the service may hold the request; they extend the timeout. */
  held?: number;
  /** Throws after a 429 instead of waiting, because the caller has an alternative. */
  hasty?: boolean;
  /** The cookie of a session. */
  cookie?: string | undefined;
  /** Ends this operation. */
  signal?: AbortSignal | undefined;
  /** Timeout of one attempt in milliseconds, instead of that of the client. */
  timeout?: number | undefined;
  /** Largest number of retries. */
  maxRetries?: number | undefined;
}

/** Called before each attempt. */
export type RequestHook = (request: { method: string; path: string; attempt: number }) => void;

/** Called after each answer, also that of an attempt which is repeated. */
export type ResponseHook = (response: {
  method: string;
  path: string;
  attempt: number;
  status: number;
  milliseconds: number;
  requestId: string | undefined;
}) => void;

export interface SendOptions {
  /** As `normalizeBaseUrl` returns it. */
  baseUrl: string;
  /** Milliseconds for which one operation is retried, including the pauses. */
  patience: number;
  /** Timeout of one attempt in milliseconds. */
  timeout: number;
  /** Waits between two attempts. */
  pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Called before each pause with the failure and the length of the pause in milliseconds. */
  onRetry?: ((error: ProblemError | NoAnswerError, milliseconds: number) => void) | undefined;
  /** Receives the service's clock from every response, in milliseconds since the epoch. */
  heard: (date: number) => void;
  /** Ends the operation; the reason of the signal is the error. */
  signal?: AbortSignal | undefined;
  fetch: typeof fetch;
  onRequest?: RequestHook | undefined;
  onResponse?: ResponseHook | undefined;
}

/** Called before each attempt, because a bearer may have been replaced meanwhile. */
export type Authorization = () => string | undefined | Promise<string>;

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
const RETRIED_STATUSES = new Set([408, 429, 502, 503, 504]);

/**
 * Returns the address of a service without a slash at the end. Throws a `TypeError` for anything
 * but an http or https address, and for an address with credentials, a query or a fragment.
 */
export function normalizeBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`${JSON.stringify(baseUrl)} is not an http or https address`);
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('The address of a service has no credentials, query or fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/**
 * Sends an operation until the service answers, and returns the answer with the parsed body of a 2xx. Only an
 * attempt without an answer, or with a 408, 429, 502, 503 or 504, is repeated: after `Retry-After`
 * if the service sent it, otherwise after a delay that doubles. A limit that ends beyond `patience`, any other refusal, an exhausted
 * write budget, and any other error (an invalid path, a keeper that fails, an unreadable reply) is
 * thrown immediately, and so is the failure after `maxRetries`.
 */
export async function send<Reply>(
  options: SendOptions,
  operation: Operation,
  authorization: Authorization = () => undefined,
): Promise<Answer<Reply>> {
  const { patience, pause, onRetry } = options;
  const { maxRetries = Infinity } = operation;
  const signal = eitherSignal(options.signal, operation.signal);
  const started = Date.now();
  let delay = FIRST_DELAY_MS;
  for (let tried = 1; ; tried++, delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    signal?.throwIfAborted();
    const outcome = await attempt<Reply>({ ...options, signal }, operation, authorization, tried);
    if ('answer' in outcome) return outcome.answer;
    signal?.throwIfAborted();
    const { error } = outcome;
    if (!isRetried(error, operation) || tried > maxRetries) throw error;
    const retryAfter = error instanceof ProblemError ? error.retryAfter : undefined;
    // Half of the delay is random, so that many clients do not retry at the same moment.
    const wait = retryAfter === undefined ? delay * (0.5 + Math.random() / 2) : retryAfter * 1000;
    const resetsIn = error instanceof ProblemError ? (error.resetsIn ?? 0) : 0;
    if (Date.now() - started + Math.max(wait, resetsIn * 1000) > patience) throw error;
    onRetry?.(error, wait);
    await pause(wait, signal);
  }
}

function isRetried(error: ProblemError | NoAnswerError, { hasty }: Operation): boolean {
  if (error instanceof NoAnswerError) return true;
  // The write budget resets at midnight UTC; no retry waits that long.
  if (error.code === 'write_budget_exhausted' || (hasty && error.status === 429)) return false;
  return RETRIED_STATUSES.has(error.status);
}

const eitherSignal = (one: AbortSignal | undefined, other: AbortSignal | undefined) =>
  one && other ? AbortSignal.any([one, other]) : (one ?? other);

type Outcome<Reply> = { answer: Answer<Reply> } | { error: ProblemError | NoAnswerError };

async function attempt<Reply>(
  options: SendOptions,
  operation: Operation,
  authorization: Authorization,
  tried: number,
): Promise<Outcome<Reply>> {
  let bearer: string | undefined;
  try {
    bearer = await authorization();
  } catch (error) {
    // Creating a credential is an operation as well, which may get no answer.
    if (error instanceof ProblemError || error instanceof NoAnswerError) return { error };
    throw error;
  }
  const [url, request] = requestFor(options, operation, bearer);
  // Throws for what no attempt could send, such as an invalid header.
  new Request(url, request);
  const { method } = operation;
  const path = url.slice(options.baseUrl.length).replace(/\?.*/s, '');
  const started = performance.now();
  options.onRequest?.({ method, path, attempt: tried });
  let response: Response;
  let text: string;
  try {
    response = await options.fetch(url, request);
    text = await response.text();
  } catch (error) {
    if (isRefusedByFetch(error)) throw error;
    return { error: noAnswer(options, error) };
  }
  const date = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(date)) options.heard(date);
  options.onResponse?.({
    method,
    path,
    attempt: tried,
    status: response.status,
    milliseconds: performance.now() - started,
    requestId: response.headers.get('x-request-id') ?? undefined,
  });
  const name = `${method} ${options.baseUrl}${path}`;
  if (!response.ok) return { error: new ProblemError(name, response, parseProblem(text)) };
  const { status, headers } = response;
  return {
    answer: { data: parseReply(text, method, `${name}: ${status}`) as Reply, status, headers },
  };
}

/** Parses the body of a 2xx: an object and, after a write, one with a status word. */
function parseReply(text: string, method: string, name: string): unknown {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw new UnreadableReplyError(`${name} with a body that is not JSON`, { cause });
  }
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  const { status } = (isObject ? data : {}) as { status?: unknown };
  if (!isObject || (method === 'POST' && typeof status !== 'string'))
    throw new UnreadableReplyError(`${name} with a body that the service does not send`);
  return data;
}

function requestFor(
  { baseUrl, timeout: usual, signal }: SendOptions,
  { method, path, body, key, origin, cookie, timeout = usual, held = 0 }: Operation,
  bearer: string | undefined,
): [url: string, init: RequestInit] {
  if (!path.startsWith('/')) throw new TypeError(`The path ${path} does not begin with a slash`);
  const deadline = AbortSignal.timeout(timeout + held * 1000);
  const init = {
    method,
    // The service never redirects: a redirect comes from elsewhere and counts as a refusal.
    redirect: 'manual' as const,
    headers: {
      ...(bearer ? { authorization: bearer } : {}),
      ...(key ? { 'idempotency-key': key } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(origin ? { origin: new URL(baseUrl).origin } : {}),
      ...(cookie ? { cookie } : {}),
    },
    ...(body === undefined ? {} : { body }),
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  };
  return [`${baseUrl}${path}`, init];
}

/** Whether `fetch` refused to send the request: the standard forbids some ports. */
function isRefusedByFetch(error: unknown): boolean {
  return (
    error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'
  );
}

function noAnswer({ baseUrl }: SendOptions, error: unknown): NoAnswerError {
  return new NoAnswerError(`no answer from ${baseUrl} (${causeOf(error)})`, { cause: error });
}

/** Returns the innermost code or message, such as `ECONNREFUSED`. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timeout';
  if (error.cause instanceof Error) return causeOf(error.cause);
  const { code } = error as Error & { code?: unknown };
  return typeof code === 'string' ? code : error.message;
}

/** Parses the body of a refusal. A proxy in between may respond with anything. */
function parseProblem(text: string): ProblemBody {
  try {
    const body = JSON.parse(text) as ProblemBody;
    return typeof body.status === 'string' ? body : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}

/** Returns `Retry-After` in seconds; the header is a number of seconds or a date. */
function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

/** Waits, and resolves early, without an error, when `signal` is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    // The longest delay that a timer accepts.
    const timer = setTimeout(done, Math.min(milliseconds, 2_147_483_647));
    signal?.addEventListener('abort', done);
  });
}
