import type { Issue, ProblemBody } from './wire.ts';

/** The service refused a request, and an identical request would be refused again. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** The HTTP status. */
  readonly status: number;
  /** The error code, such as `idempotency_conflict`; `unknown` where the answer is not the service's. */
  readonly code: string;
  /** What the code leaves open, such as `version_mismatch` of a `state_conflict`. */
  readonly reason: string | undefined;
  /** The fields of the request that are not valid, after an `invalid_request`. */
  readonly issues: readonly Issue[];
  /** Names this request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds after which the service asked to try again. */
  readonly retryAfter: number | undefined;
  readonly body: ProblemBody;

  constructor(request: string, response: Response, body: ProblemBody) {
    const { message, reason, issues, request_id } = body.error ?? {};
    const code = reason === undefined ? body.status : `${body.status} (${reason})`;
    super(`${request}: ${response.status} ${code}${message ? `: ${message}` : ''}`);
    this.status = response.status;
    this.code = body.status;
    this.reason = reason;
    this.issues = issues ?? [];
    this.requestId = request_id ?? response.headers.get('x-request-id') ?? undefined;
    this.retryAfter = parseRetryAfter(response.headers.get('retry-after'));
    this.body = body;
  }
}

/**
 * The service did not answer within `patience`. A write may have happened: send it again with the same
 * key and body. `cause` is the last failure.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** The service answered 2xx with a body that is not JSON. The operation happened. */
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
  /** Seconds for which the service may hold the request. */
  held?: number;
  /** Throws after a 429 instead of waiting, because the caller has an alternative. */
  hasty?: boolean;
}

export interface SendOptions {
  /** As `normalizeBaseUrl` returns it. */
  baseUrl: string;
  /** Milliseconds for which one operation is retried, pauses included. */
  patience: number;
  /** Milliseconds after which one attempt counts as unanswered. */
  timeout: number;
  /** Waits between two attempts. */
  pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Called before each pause with the failure and the length of the pause in milliseconds. */
  onRetry?: ((error: ProblemError | NoAnswerError, milliseconds: number) => void) | undefined;
  /** Receives the service's clock from every answer, in milliseconds since the epoch. */
  heard: (date: number) => void;
  /** Ends the operation, with the signal's reason as the error. */
  signal?: AbortSignal | undefined;
}

/** Asked again before each attempt, because a bearer may have been replaced meanwhile. */
export type Authorization = () => string | undefined | Promise<string>;

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
const RETRIED_STATUSES = new Set([408, 429, 502, 503, 504]);

/**
 * The address of a service without a slash at the end. Throws a `TypeError` for anything but an http or
 * https address, and for an address with credentials, a query or a fragment.
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
 * Sends an operation until the service answers, and returns the parsed body of a 2xx. Only an attempt
 * without an answer, or with a 408, 429, 502, 503 or 504, is repeated: after `Retry-After` where the
 * service sent it, otherwise after a delay that doubles. Any other refusal, a used-up write budget, and any
 * other error (an invalid path, a keeper that fails, an unreadable reply) is thrown without another attempt.
 */
export async function send<Reply>(
  options: SendOptions,
  operation: Operation,
  authorization: Authorization = () => undefined,
): Promise<Reply> {
  const { signal, patience, pause, onRetry } = options;
  const started = Date.now();
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    signal?.throwIfAborted();
    const outcome = await attempt<Reply>(options, operation, authorization);
    if ('reply' in outcome) return outcome.reply;
    signal?.throwIfAborted();
    const { error } = outcome;
    if (!isRetried(error, operation)) throw error;
    const retryAfter = error instanceof ProblemError ? error.retryAfter : undefined;
    // Half of the delay is random, so that many clients do not return in the same moment.
    const wait = retryAfter === undefined ? delay * (0.5 + Math.random() / 2) : retryAfter * 1000;
    if (Date.now() - started + wait > patience) throw error;
    onRetry?.(error, wait);
    await pause(wait, signal);
  }
}

function isRetried(error: ProblemError | NoAnswerError, { hasty }: Operation): boolean {
  if (error instanceof NoAnswerError) return true;
  // A used-up budget is new at midnight, which no retry can wait for.
  if (error.code === 'write_budget_exhausted' || (hasty && error.status === 429)) return false;
  return RETRIED_STATUSES.has(error.status);
}

type Outcome<Reply> = { reply: Reply } | { error: ProblemError | NoAnswerError };

async function attempt<Reply>(
  options: SendOptions,
  operation: Operation,
  authorization: Authorization,
): Promise<Outcome<Reply>> {
  let bearer: string | undefined;
  try {
    bearer = await authorization();
  } catch (error) {
    // Making a credential is an operation too, which may have had no answer.
    if (error instanceof ProblemError || error instanceof NoAnswerError) return { error };
    throw error;
  }
  const request = requestFor(options, operation, bearer);
  let response: Response;
  let text: string;
  try {
    response = await fetch(request);
    text = await response.text();
  } catch (error) {
    if (isRefusedByFetch(error)) throw error;
    return { error: noAnswer(options, error) };
  }
  const date = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(date)) options.heard(date);
  const name = `${operation.method} ${request.url.replace(/\?.*/s, '')}`;
  if (!response.ok) return { error: new ProblemError(name, response, parseProblem(text)) };
  try {
    return { reply: JSON.parse(text) as Reply };
  } catch (cause) {
    throw new UnreadableReplyError(`${name}: ${response.status} with a body that is not JSON`, {
      cause,
    });
  }
}

function requestFor(
  { baseUrl, timeout, signal }: SendOptions,
  { method, path, body, key, origin, held = 0 }: Operation,
  bearer: string | undefined,
): Request {
  if (!path.startsWith('/')) throw new TypeError(`The path ${path} does not begin with a slash`);
  const deadline = AbortSignal.timeout(timeout + held * 1000);
  return new Request(`${baseUrl}${path}`, {
    method,
    // The service redirects nothing: a redirect comes from elsewhere, and is refused as an answer.
    redirect: 'manual',
    headers: {
      ...(bearer ? { authorization: bearer } : {}),
      ...(key ? { 'idempotency-key': key } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(origin ? { origin: new URL(baseUrl).origin } : {}),
    },
    ...(body === undefined ? {} : { body }),
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  });
}

/** Whether `fetch` did not even try: the standard forbids some ports. */
function isRefusedByFetch(error: unknown): boolean {
  return (
    error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'
  );
}

function noAnswer({ baseUrl }: SendOptions, error: unknown): NoAnswerError {
  return new NoAnswerError(`no answer from ${baseUrl} (${causeOf(error)})`, { cause: error });
}

/** The innermost code or message, such as `ECONNREFUSED`. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timeout';
  if (error.cause instanceof Error) return causeOf(error.cause);
  const { code } = error as Error & { code?: unknown };
  return typeof code === 'string' ? code : error.message;
}

/** The body of a refusal. A proxy on the way may answer with anything. */
function parseProblem(text: string): ProblemBody {
  try {
    const body = JSON.parse(text) as ProblemBody;
    return typeof body.status === 'string' ? body : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}

/** `Retry-After` in seconds; the header is a number of seconds or a date. */
function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

/** Waits. Ends early, without an error, when `signal` is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    // The longest time that a timer accepts.
    const timer = setTimeout(done, Math.min(milliseconds, 2_147_483_647));
    signal?.addEventListener('abort', done);
  });
}
