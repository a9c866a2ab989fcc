import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { loopbackPage } from '../base-url.ts';
import type { NextPage } from '../keyset-cursor.ts';
import { readFromPrimary } from '../postgres/replica.ts';
import { withDeadline } from '../postgres/request-deadline.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { toLoggable } from '../telemetry/logger.ts';
import { traceIdOf, withTrace } from '../telemetry/trace.ts';
import { mayWantPage, wantsPage } from './accept.ts';
import type { Admission, Request } from './admission.ts';
import { preflightHeaders } from './cors.ts';
import { closeAfterResponse } from './graceful-close.ts';
import {
  authorise,
  converse,
  type Input,
  invoke,
  type Operation,
  type Operations,
} from './invoke.ts';
import type { Authenticators, Principal } from './principal.ts';
import { Problem, type ProblemCode, problemFrom, problemReply } from './problems.ts';
import {
  CallerGone,
  checkHeaderSize,
  checkHeaders,
  checkMedia,
  checkOrigin,
  idempotencyKey,
  parseForm,
  readBody,
  readQuery,
  splitUrl,
  takesEmptyBody,
  valuesLimit,
} from './read-request.ts';
import { callerAddress, toRequestContext } from './request-context.ts';
import { endRequestSpan } from './request-span.ts';
import { cachingHeaders, commonHeaders, type Headers, responseBody, sendReply } from './respond.ts';
import {
  type AnyReply,
  type Content,
  fillLocation,
  isByAuthorization,
  isForModerators,
  isMutation,
  isPage,
  type Route,
} from './route.ts';
import { securityEvent } from './security-events.ts';
import { parseStrictJson } from './strict-json.ts';
import { bearerChallenge, toProblem } from './to-problem.ts';

/** Renders an error as a page for people. */
export type ErrorPage = (problem: {
  status: number;
  code: ProblemCode;
  message: string;
  requestId: string;
}) => Promise<{ content: Content; headers: Headers }>;

/** An error of a page's own form, which comes back with what its author wrote. */
export class FormRefused extends Error {
  readonly page: ErrorPage;

  constructor(cause: unknown, page: ErrorPage) {
    super('the form was refused', { cause });
    this.page = page;
  }
}

export interface HttpDeps {
  operations: Operations;
  authenticators: Authenticators;
  /** The name of the cookie that proves a moderator. */
  moderatorCookie: string;
  logger: Logger;
  baseUrl: string;
  /** Whether `baseUrl` is https, which adds HSTS. */
  secure: boolean;
  /** Whether every response asks search engines not to list it. */
  hidden?: boolean;
  trustedProxies: number;
  /** Without it, every error is JSON. */
  errorPage?: ErrorPage;
  /** A keyed hash of an address, for the log. */
  hashAddress?: (address: string) => string;
  /** With a read replica, the largest lag at which it is used, in seconds. */
  replicaLagSeconds?: number;
  /** Bounds the requests in progress. */
  admission?: Admission;
  /** Called for every request, for the metrics. Each call is followed by one of `answered`. */
  arrived?: () => void;
  /**
   * Called for every response, for the metrics. `route` is a path template, or `-` for an unknown
   * path; `code` is the error code of a problem.
   */
  answered?: (
    method: string,
    route: string,
    status: number,
    seconds: number,
    code: string | undefined,
  ) => void;
}

/**
 * Status in the log and metrics of a request whose caller disconnected: no fault of this service.
 */
const CALLER_GONE = 499;

/**
 * Responds to one request, counts it, records it in its span. Without `methods` no route has
 * the path, and `failure` is the error to respond with.
 */
export async function handleRequest(
  deps: HttpDeps,
  req: Request,
  res: ServerResponse,
  path: string,
  methods: ReadonlyMap<string, Operation> | undefined,
  failure?: unknown,
  span?: Span,
): Promise<void> {
  const started = performance.now();
  deps.arrived?.();
  const id = randomUUID();
  const operation = methods?.get(req.method ?? '');
  const traceId = traceIdOf(req.headers) ?? span?.spanContext().traceId;
  const seen: Seen = {};
  const headers = {
    ...commonHeaders(id, deps.secure, deps.hidden),
    ...cachingHeaders(operation?.route),
  };
  try {
    // The caller may have gone while the request waited for its turn.
    if (req.socket.destroyed) throw new CallerGone();
    if (!methods) throw failure;
    if (operation) {
      // Probes need no place: an orchestrator must not end a process because it has much to do.
      if (operation.route.tag !== 'operations') req.place = deps.admission?.placeFor(req, path);
      const { place } = req;
      const work = () => answer(deps, req, res, operation, id, headers, seen);
      const run = () => withOwnWrites(req, () => withDeadline(work, undefined, place?.enter));
      await (traceId ? withTrace(traceId, run) : run());
    } else {
      const preflight = preflightHeaders(req, methods.get('GET')?.route);
      if (!preflight)
        throw new Problem('method_not_allowed', {}, { allow: [...methods.keys()].join(', ') });
      checkHeaderSize(req);
      res.writeHead(204, { ...headers, ...preflight }).end();
    }
  } catch (error) {
    if (error instanceof CallerGone) res.statusCode = CALLER_GONE;
    else if (res.headersSent) cut(deps, res, error, id);
    else seen.code = await sendProblem(deps, req, res, operation?.route, error, id, headers);
  }
  req.place?.leave();
  const milliseconds = performance.now() - started;
  deps.answered?.(req.method ?? '', path, res.statusCode, milliseconds / 1000, seen.code);
  if (span) endRequestSpan(span, id, res.statusCode, seen.code);
  const line = {
    id,
    trace_id: traceId,
    method: req.method,
    route: path,
    status: res.statusCode,
    code: seen.code,
    ms: Math.round(milliseconds * 10) / 10,
    ...callerFields(seen.principal),
    address: deps.hashAddress?.(callerAddress(req, deps.trustedProxies)),
  };
  // Probes come every second and say nothing new; of refusals there may be thousands.
  const isMinor = operation?.route.tag === 'operations' || seen.code === 'overloaded';
  deps.logger[isMinor ? 'debug' : 'info'](line, 'request');
  const security = operation && securityEvent(operation.route, res.statusCode, seen.code);
  if (security) {
    const { level, event } = security;
    deps.logger[level]({ ...line, operation: operation.id, event }, 'security');
  }
}

/** What is known of a request when it is logged. */
interface Seen {
  principal?: Principal;
  code?: string;
}

/** The ids of the caller, for the log. */
function callerFields(principal: Principal | undefined): Record<string, string> {
  switch (principal?.kind) {
    case 'session':
      return { member: principal.memberId };
    case 'credential':
      return { member: principal.memberId, credential: principal.credentialId };
    case 'moderator':
      return { moderator: principal.moderatorId };
    default:
      return {};
  }
}

/** Stream errors of a reader that disconnects, or disconnected before the stream began. */
const READER_GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE'];

/** Headers are already sent, so destroy the connection to signal a truncated response. */
function cut(deps: HttpDeps, res: ServerResponse, error: unknown, id: string): void {
  res.destroy();
  if (!READER_GONE.includes((error as { code?: string }).code ?? ''))
    deps.logger.warn({ id, error: toLoggable(error) }, 'answer cut short');
}

async function answer(
  deps: HttpDeps,
  req: Request,
  res: ServerResponse,
  operation: Operation,
  id: string,
  headers: Headers,
  seen: Seen,
): Promise<void> {
  const { route } = operation;
  checkHeaderSize(req);
  if (route.transport) {
    const request = {
      ...toRequestContext(req, res, deps.trustedProxies, id, undefined),
      incoming: req,
    };
    const reply = await converse(operation, request);
    await sendReply(
      req,
      res,
      route,
      { ...reply, headers: closeAfterResponse(req, reply.headers) },
      headers,
    );
    return;
  }
  checkHeaders(req, route);
  const elsewhere =
    isPage(route) && req.method === 'GET'
      ? loopbackPage(deps.baseUrl, req.headers.host ?? '', req.url ?? '/')
      : undefined;
  if (elsewhere) {
    const reply = { status: 307, content: { type: '', bytes: '' } };
    await sendReply(req, res, undefined, reply, { ...headers, location: elsewhere });
    return;
  }
  checkOrigin(req, route, deps);
  checkMedia(req, route);
  const principal = await identify(deps, req, route);
  if (isRefusal(principal)) throw problemFrom(principal);
  seen.principal = principal;
  const forbidden = authorise(operation, principal);
  if (forbidden) throw problemFrom(forbidden);
  const query = readQuery(splitUrl(req)[1], route);
  const key = idempotencyKey(req, route);
  const parse = route.form ? parseForm : parseStrictJson;
  const bytes = route.body && (await readBody(req, route));
  const isAbsent = bytes?.length === 0 && takesEmptyBody(route);
  const body = bytes && (isAbsent ? {} : parse(bytes, valuesLimit(route)));
  const input: Input = { params: { ...req.params }, query, body };
  const request = toRequestContext(req, res, deps.trustedProxies, id, key);
  const outcome = await invoke(operation, principal, input, request);
  if (isRefusal(outcome)) throw problemFrom(await withEnd(deps, req, route, principal, outcome));
  if (outcome.stream) req.place?.leave();
  await sendReply(req, res, route, outcome, {
    ...headers,
    ...locationHeader(route, input, outcome),
    ...linkHeader(req, outcome),
    ...wroteCookie(deps, req, route),
  });
}

/** A refusal of a secret that was accepted when the request began: asks again, for the reason of its end. */
async function withEnd(
  deps: HttpDeps,
  req: Request,
  route: Route,
  principal: Principal,
  refusal: Refusal<ProblemCode>,
): Promise<Refusal<ProblemCode>> {
  const ended =
    (principal.kind === 'credential' && refusal.refused === 'credential_not_accepted') ||
    (principal.kind === 'session' && refusal.refused === 'session_required');
  const again = ended ? await identify(deps, req, route) : refusal;
  return isRefusal(again) ? (again as Refusal<ProblemCode>) : refusal;
}

/** Callers who show who they are, or that they wrote a moment ago, read their own writes. */
function withOwnWrites<Result>(
  { headers: { authorization, cookie } }: Request,
  run: () => Promise<Result>,
): Promise<Result> {
  return authorization === undefined && cookie === undefined ? run() : readFromPrimary(run);
}

/** With a replica, a browser that wrote reads from the primary until the replica has caught up. */
function wroteCookie(
  { replicaLagSeconds, secure }: HttpDeps,
  { headers: { authorization } }: Request,
  route: Route,
): Headers {
  if (replicaLagSeconds === undefined || authorization || !isMutation(route)) return {};
  const end = secure ? '; Secure' : '';
  return {
    'set-cookie': `wrote=1; Max-Age=${replicaLagSeconds}; Path=/; HttpOnly; SameSite=Strict${end}`,
  };
}

/** A replay has the same `Location` as the first response, because both have the same body. */
function locationHeader(route: Route, { params }: Input, reply: AnyReply): Headers {
  const location = route.replies[reply.status]?.location;
  return location ? { location: fillLocation(location, params, responseBody(reply)) } : {};
}

/** A list that continues links to its next page: the same GET, from the next cursor. */
function linkHeader(req: Request, { body, next: given }: AnyReply): Headers {
  const { has_more, next_cursor } = (body ?? {}) as Partial<NextPage>;
  const next = has_more ? next_cursor : given;
  if (!next || req.method === 'POST') return {};
  const [path, search] = splitUrl(req);
  const query = new URLSearchParams(search);
  // Where to start is a question of the first page; the feed refuses it beside a cursor.
  query.delete('start');
  query.set('cursor', next);
  return { link: `<${path}?${query}>; rel="next"` };
}

async function identify(deps: HttpDeps, req: Request, route: Route) {
  const { access } = route;
  const anonymous: Principal = { kind: 'anonymous' };
  if (access === 'public' || access === 'session?') return anonymous;
  const { authorization, cookie, 'expected-moderator': moderator } = req.headers;
  const presented = { authorization, cookie, moderator: moderator?.toString() };
  if (access === 'session') return deps.authenticators.session(presented);
  return isForModerators(route)
    ? deps.authenticators.moderator(presented)
    : deps.authenticators.bearer(presented);
}

async function sendProblem(
  deps: HttpDeps,
  req: Request,
  res: ServerResponse,
  route: Route | undefined,
  error: unknown,
  id: string,
  headers: Headers,
): Promise<string> {
  const refused = error instanceof FormRefused ? error : undefined;
  const problem = toProblem(deps.logger, refused ? refused.cause : error, id);
  const reply = problemReply(problem.code, problem.details, id);
  const body = route?.bareProblems?.includes(reply.status)
    ? { status: reply.body.status }
    : reply.body;
  const all: Headers = {
    ...headers,
    'cache-control': 'no-store',
    ...(mayWantPage(req, route) ? { vary: 'accept' } : {}),
    ...reply.headers,
    ...problem.headers,
  };
  const bearerSent = /^bearer\b/i.test(req.headers.authorization ?? '');
  const challenge = bearerChallenge(
    problem.code,
    problem.details,
    bearerSent && route !== undefined && isByAuthorization(route),
  );
  if (challenge) all['www-authenticate'] = challenge;
  const page = wantsPage(req, route)
    ? await (refused?.page ?? deps.errorPage)?.({
        status: reply.status,
        code: problem.code,
        message: reply.body.error.message,
        requestId: id,
      })
    : undefined;
  void sendReply(
    req,
    res,
    undefined,
    page ? { status: reply.status, content: page.content } : { status: reply.status, body },
    closeAfterResponse(req, { ...all, ...page?.headers }),
  );
  return reply.body.error.code;
}
