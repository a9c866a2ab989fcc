import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { closeAfterResponse } from './graceful-close.ts';
import { MODERATOR_COOKIE } from './principal.ts';
import { problemReply } from './problems.ts';
import { commonHeaders } from './respond.ts';
import type { Content, Route } from './route.ts';

type Kind = 'reads' | 'writes' | 'moderators';

/** Requests of each kind in progress at a time, for each connection of the pool. */
const PLACES: Readonly<Record<Kind, number>> = { reads: 12.8, writes: 12.8, moderators: 3.2 };
/** While the event loop is late, a process takes so much less. */
const STRAINED_SHARE = 1 / 8;
const SAMPLE_MS = 100;
/** Delay of the event loop, in milliseconds, from which a process counts as strained. */
const STRAINED_MS = 500;
const WARNING_MS = 10_000;

/** `enter` takes a place among the requests in progress, and says whether there was one; `leave` gives it back. */
export type Request = IncomingMessage & {
  params?: object;
  enter?: () => boolean;
  leave?: (() => void) | undefined;
};

export type Admission = ReturnType<typeof createAdmission>;

/**
 * Bounds the requests that a process has begun and not finished, because what it accepts beyond its
 * capacity waits until its callers have gone (docs/operating/limits.md). Reads, writes and
 * moderators have separate places, so none of them can take those of another. A request is counted
 * as a moderator's by its form alone: anyone can send such a header, so that share is small.
 */
export function createAdmission(poolSize: number, logger: Logger) {
  const held = { reads: 0, writes: 0, moderators: 0 };
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let strained = false;
  let due = performance.now() + SAMPLE_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    strained = now - due > STRAINED_MS;
    due = now + SAMPLE_MS;
  }, SAMPLE_MS).unref();

  /** Takes a place; returns what gives it back, or undefined if all are taken. */
  function enter(req: IncomingMessage, path: string): (() => void) | undefined {
    const kind = kindOf(req, path);
    const places = Math.ceil(PLACES[kind] * poolSize * (strained ? STRAINED_SHARE : 1));
    if (held[kind] >= places) {
      refused++;
      warn();
      return undefined;
    }
    held[kind]++;
    let left = false;
    return () => {
      if (!left) held[kind]--;
      left = true;
    };
  }

  /** One line for many refusals: a line for each would cost more than the refusal. */
  function warn(): void {
    const now = performance.now();
    if (now - warnedAt < WARNING_MS) return;
    logger.warn({ ...held, strained, refused }, 'overloaded');
    warnedAt = now;
    refused = 0;
  }

  return { enter, stop: () => clearInterval(timer) };
}

function kindOf({ method, headers }: IncomingMessage, path: string): Kind {
  if (path.startsWith('/api/moderation/')) {
    const { authorization = '', cookie = '' } = headers;
    if (/^bearer mod_/i.test(authorization) || cookie.includes(MODERATOR_COOKIE))
      return 'moderators';
  }
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'writes';
}

/** The part of `HttpDeps` that a refusal uses. */
interface RefusalDeps {
  secure: boolean;
  errorPage?: (problem: {
    status: number;
    code: 'overloaded';
    message: string;
    requestId: string;
  }) => Promise<{ content: Content }>;
  arrived?: () => void;
  answered?: (method: string, route: string, status: number, seconds: number, code: string) => void;
}

const ANY_ID = '00000000-0000-4000-8000-000000000000';

/**
 * Returns a function that refuses a request before anything is done. It runs most often when the
 * process has least time, so it renders nothing and writes no line in the log.
 */
export function createRefusal(deps: RefusalDeps) {
  const { status, body } = problemReply('overloaded', {}, ANY_ID);
  const json = [JSON.stringify(body), 'application/json; charset=utf-8'] as const;
  const bare = [JSON.stringify({ status: body.status }), json[1]] as const;
  let page: readonly [string, string] | undefined;
  void deps
    .errorPage?.({ status, code: 'overloaded', message: body.error.message, requestId: ANY_ID })
    .then(({ content: { bytes, type } }) => {
      page = [Buffer.from(bytes as Uint8Array).toString(), type ?? ''];
    })
    .catch(() => undefined);

  return (req: IncomingMessage, res: ServerResponse, route: Route | undefined, path: string) => {
    deps.arrived?.();
    const id = randomUUID();
    const [text, type] = route?.bareProblems?.includes(status)
      ? bare
      : !path.startsWith('/api/') && page && req.headers.accept?.includes('text/html')
        ? page
        : json;
    const bytes = Buffer.from(text.replace(ANY_ID, id));
    res.writeHead(
      status,
      closeAfterResponse(req, {
        ...commonHeaders(id, deps.secure),
        'cache-control': 'no-store',
        'content-type': type,
        'content-length': String(bytes.length),
        ...problemReply('overloaded', {}, id).headers,
      }),
    );
    res.end(req.method === 'HEAD' ? undefined : bytes);
    deps.answered?.(req.method ?? '', route ? route.path : '-', status, 0, 'overloaded');
  };
}
