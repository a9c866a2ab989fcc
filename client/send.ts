import type { ProblemBody } from './wire.ts';

/** The service said no, and repeating the same request would not change that. */
export class ProblemError extends Error {
  readonly status: number;
  /** One word, such as `idempotency_conflict`. */
  readonly code: string;
  readonly body: ProblemBody;
  /** Seconds, where the service said when to come back. */
  readonly retryAfter: number | undefined;

  constructor(status: number, body: ProblemBody, retryAfter: number | undefined) {
    super(`${status} ${body.status}: ${body.error?.message ?? ''}`);
    this.name = 'ProblemError';
    this.status = status;
    this.code = body.status;
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

/** No answer within the patience. A write may or may not have happened: repeat it with its key. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** One operation, whose bytes do not change however often it is sent. */
export interface Operation {
  method: 'GET' | 'POST';
  path: string;
  /** JSON text. */
  body?: string;
  key?: string;
  /** Membership's own routes ask where a request comes from. */
  origin?: boolean;
  /** Seconds that the service may hold the request. */
  held?: number;
  /** A 429 is thrown at once, for there is another way. */
  hasty?: boolean;
}

export interface SendOptions {
  baseUrl: string;
  /** Milliseconds that one operation may be tried for, waiting included. */
  patience: number;
  /** Milliseconds for one answer. */
  timeout: number;
  pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Told the service's clock by every answer, in milliseconds of the epoch. */
  heard: (date: number) => void;
  signal?: AbortSignal | undefined;
}

/** Asked again for each attempt, for a bearer may have been replaced, and may itself need answers. */
export type Authorization = () => string | undefined | Promise<string>;

const FIRST_DELAY = 250;
const MOST_DELAY = 30_000;
const LATER = new Set([408, 429, 502, 503, 504]);

/**
 * Sends an operation until it is answered. A lost answer, a 503 and a 429 are followed by exactly
 * the same request: after `Retry-After` where the service said so, otherwise after a delay that
 * doubles.
 */
export async function send<Reply>(
  options: SendOptions,
  operation: Operation,
  authorization: Authorization = () => undefined,
): Promise<Reply> {
  const { signal, patience, pause } = options;
  const started = Date.now();
  for (let delay = FIRST_DELAY; ; delay = Math.min(2 * delay, MOST_DELAY)) {
    signal?.throwIfAborted();
    const outcome = await attempt<Reply>(options, operation, authorization);
    if ('reply' in outcome) return outcome.reply;
    signal?.throwIfAborted();
    const { error } = outcome;
    const status = error instanceof ProblemError ? error.status : 503;
    if (!LATER.has(status) || (status === 429 && operation.hasty)) throw error;
    const retryAfter = error instanceof ProblemError ? error.retryAfter : undefined;
    // Half of it by chance, so that many clients do not come back in one moment.
    const wait = retryAfter === undefined ? delay * (0.5 + Math.random() / 2) : retryAfter * 1000;
    if (Date.now() - started + wait > patience) throw error;
    await pause(wait, signal);
  }
}

type Outcome<Reply> = { reply: Reply } | { error: ProblemError | NoAnswerError };

async function attempt<Reply>(
  { baseUrl, timeout, signal, heard }: SendOptions,
  { method, path, body, key, origin, held = 0 }: Operation,
  authorization: Authorization,
): Promise<Outcome<Reply>> {
  try {
    const bearer = await authorization();
    const limit = AbortSignal.timeout(timeout + held * 1000);
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'error',
      headers: {
        ...(bearer ? { authorization: bearer } : {}),
        ...(key ? { 'idempotency-key': key } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(origin ? { origin: baseUrl } : {}),
      },
      ...(body === undefined ? {} : { body }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const text = await response.text();
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) heard(date);
    if (response.ok) return { reply: JSON.parse(text) as Reply };
    const retryAfter = secondsOf(response.headers.get('retry-after'));
    return { error: new ProblemError(response.status, problemOf(text), retryAfter) };
  } catch (cause) {
    if (cause instanceof ProblemError || cause instanceof NoAnswerError) return { error: cause };
    return { error: new NoAnswerError(`${method} ${path.split('?')[0]}: no answer`, { cause }) };
  }
}

/** A proxy in between may answer anything. */
function problemOf(text: string): ProblemBody {
  try {
    const body = JSON.parse(text) as ProblemBody;
    return typeof body.status === 'string' ? body : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}

/** `Retry-After` is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

/** The ordinary pause; ends early, without an error, where the signal is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    // A timer takes no more than this many milliseconds.
    const timer = setTimeout(done, Math.min(milliseconds, 2_147_483_647));
    signal?.addEventListener('abort', done);
  });
}
