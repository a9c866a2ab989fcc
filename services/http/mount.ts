import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { isRefusal, refuse } from '../eventstore/decider.ts';
import { loggable } from '../loggable.ts';
import { sharedPatience } from '../postgres.ts';
import { factsOf } from './facts.ts';
import { problemOf } from './failure.ts';
import {
  authorise,
  converse,
  type Input,
  invoke,
  type Operation,
  type Operations,
} from './invoke.ts';
import type { Authenticators, Principal } from './principal.ts';
import { Problem, type ProblemCode, problemReply } from './problems.ts';
import {
  checkHeaders,
  checkMedia,
  checkOrigin,
  idempotencyKey,
  readBody,
  readQuery,
} from './read-request.ts';
import { cachingHeaders, commonHeaders, type Headers, send } from './respond.ts';
import type { Route } from './route.ts';
import { parseStrictJson } from './strict-json.ts';

export interface HttpParts {
  operations: Operations;
  authenticators: Authenticators;
  logger: Logger;
  baseUrl: string;
  trustedProxies: number;
  apiOpen: boolean;
  /** Told of every request, for the metrics: `answered` follows each `arrived`. */
  arrived?: () => void;
  /** Told of every answer, for the metrics. `route` is a path template, `-` for an unknown path. */
  answered?: (method: string, route: string, status: number, seconds: number) => void;
}

type Request = IncomingMessage & { params?: object };

/**
 * Express, routing from the table: a path knows its methods, so 405 and `Allow` derive from it. `app`
 * looks up a path without parameters before Express, which tries its routes one after the other.
 */
export function mount(parts: HttpParts): { app: RequestListener; router: Express } {
  const paths = new Map<string, Map<string, Operation>>();
  for (const operation of parts.operations.values()) {
    const { path, method } = operation.route;
    const methods = paths.get(path) ?? new Map<string, Operation>();
    methods.set(method, operation);
    if (method === 'GET') methods.set('HEAD', operation);
    paths.set(path, methods);
  }
  const router = newRouter();
  for (const [path, methods] of paths)
    router.route(path).all((req, res) => exchange(parts, req, res, path, methods));
  mountNotFound(parts, router);

  const fixed = new Map([...paths].filter(([path]) => !/[:*{]/.test(path)));
  function app(req: IncomingMessage, res: ServerResponse): void {
    const [path] = splitUrl(req);
    const methods = fixed.get(path);
    if (methods) void exchange(parts, req, res, path, methods);
    else router(req as express.Request, res as express.Response);
  }
  return { app, router };
}

/** The last handlers: whatever no route took. */
function mountNotFound(parts: HttpParts, router: Express): void {
  router.use((req, res) => exchange(parts, req, res, '-', undefined));
  const failed: express.ErrorRequestHandler = (error: unknown, req, res, _next) => {
    const malformed = error instanceof URIError || (error as { status?: number }).status === 400;
    return exchange(parts, req, res, '-', undefined, malformed ? new Problem('not_found') : error);
  };
  router.use(failed);
}

function newRouter(): Express {
  const router = express();
  router.disable('x-powered-by');
  router.disable('etag');
  router.set('query parser', false);
  router.enable('case sensitive routing');
  router.enable('strict routing');
  return router;
}

/** The path and the query, without its mark. */
function splitUrl({ url = '' }: IncomingMessage): [path: string, search: string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

async function exchange(
  parts: HttpParts,
  req: Request,
  res: ServerResponse,
  path: string,
  methods: ReadonlyMap<string, Operation> | undefined,
  failure?: unknown,
): Promise<void> {
  const started = performance.now();
  parts.arrived?.();
  const id = randomUUID();
  const operation = methods?.get(req.method ?? '');
  const headers = {
    ...commonHeaders(id, parts.baseUrl.startsWith('https:')),
    ...cachingHeaders(operation?.route),
  };
  try {
    if (failure) throw failure;
    if (!methods) throw new Problem('not_found');
    if (!operation)
      throw new Problem('method_not_allowed', {}, { allow: [...methods.keys()].join(', ') });
    await sharedPatience(() => answer(parts, req, res, operation, id, headers));
  } catch (error) {
    if (res.headersSent) cut(parts, res, error, id);
    else sendProblem(parts, req, res, operation?.route, error, id, headers);
  }
  const milliseconds = performance.now() - started;
  parts.answered?.(req.method ?? '', path, res.statusCode, milliseconds / 1000);
  parts.logger.info(
    {
      id,
      method: req.method,
      route: path,
      status: res.statusCode,
      ms: Math.round(milliseconds * 10) / 10,
    },
    'request',
  );
}

/** Too late for a problem: a broken connection is what tells that the answer is not whole. */
function cut(parts: HttpParts, res: ServerResponse, error: unknown, id: string): void {
  res.destroy();
  if ((error as { code?: string }).code !== 'ERR_STREAM_PREMATURE_CLOSE')
    parts.logger.warn({ id, err: loggable(error) }, 'answer cut short');
}

async function answer(
  parts: HttpParts,
  req: Request,
  res: ServerResponse,
  operation: Operation,
  id: string,
  headers: Headers,
): Promise<void> {
  const { route } = operation;
  if (route.transport) {
    const request = { ...factsOf(req, res, parts.trustedProxies, id, undefined), incoming: req };
    const reply = await converse(operation, request);
    if (leavesMuch(req)) reply.headers = { ...reply.headers, connection: 'close' };
    await send(req, res, route, reply, headers);
    return;
  }
  checkHeaders(req);
  checkOrigin(req, route, parts.baseUrl);
  checkMedia(req, route);
  const principal = await identify(parts, req, route);
  if (isRefusal(principal)) throw refusalProblem(principal);
  const forbidden = authorise(route, principal);
  if (forbidden) throw refusalProblem(forbidden);
  if (route.gated && !parts.apiOpen) throw new Problem('api_disabled');
  const query = readQuery(splitUrl(req)[1], route);
  const key = idempotencyKey(req, route);
  const body = route.body ? parseStrictJson(await readBody(req, route)) : undefined;
  const input: Input = { params: { ...req.params }, query, body };
  const outcome = await invoke(
    operation,
    principal,
    input,
    factsOf(req, res, parts.trustedProxies, id, key),
  );
  if (isRefusal(outcome)) throw refusalProblem(outcome);
  await send(req, res, route, outcome, headers);
}

async function identify(parts: HttpParts, req: Request, route: Route) {
  const { access } = route;
  const anonymous: Principal = { kind: 'anonymous' };
  if (access === 'public' || access === 'session?') return anonymous;
  const authorizations = req.headersDistinct.authorization ?? [];
  const presented = { authorization: authorizations[0], cookie: req.headers.cookie };
  if (access === 'session') return parts.authenticators.session(presented);
  const moderation = typeof access === 'object' && 'roles' in access;
  if (authorizations.length > 1)
    return refuse(moderation ? 'moderator_required' : 'credential_not_accepted');
  return moderation
    ? parts.authenticators.moderator(presented)
    : parts.authenticators.bearer(presented);
}

function refusalProblem(refusal: {
  refused: string;
  details?: Record<string, unknown>;
  headers?: Headers;
}): Problem {
  return new Problem(refusal.refused as ProblemCode, refusal.details ?? {}, refusal.headers ?? {});
}

/** A body that nobody read, too long to be worth reading for the connection's sake. */
const leavesMuch = (req: Request) =>
  !req.complete && Number(req.headers['content-length']) > 65_536;

function sendProblem(
  parts: HttpParts,
  req: Request,
  res: ServerResponse,
  route: Route | undefined,
  error: unknown,
  id: string,
  headers: Headers,
): void {
  const problem = problemOf(parts.logger, error, id);
  const reply = problemReply(problem.code, problem.details, id);
  const body = route?.bareProblems?.includes(reply.status)
    ? { status: reply.body.status }
    : reply.body;
  const all: Headers = {
    ...headers,
    'cache-control': 'no-store',
    ...reply.headers,
    ...problem.headers,
  };
  if (reply.status === 401 && problem.code.startsWith('credential_'))
    all['www-authenticate'] = 'Bearer';
  if (leavesMuch(req)) all.connection = 'close';
  void send(req, res, undefined, { status: reply.status, body }, all);
}
