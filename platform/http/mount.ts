import type { RequestListener, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import { inSpan } from '../telemetry/spans.ts';
import type { Request } from './admission.ts';
import { type HttpDeps, handleRequest } from './handle-request.ts';
import type { Operation } from './invoke.ts';
import { Problem } from './problems.ts';
import { splitUrl } from './read-request.ts';
import { requestSpan } from './request-span.ts';
import { unknownRoute } from './to-problem.ts';

/**
 * Routes requests with Express from the route table. A path knows its methods, so 405 and `Allow`
 * derive from the table. `app` finds a path without parameters in a map, because Express tries its
 * routes in turn.
 */
export function mount(deps: HttpDeps): { app: RequestListener; router: Express } {
  const paths = new Map<string, Map<string, Operation>>();
  for (const operation of deps.operations.values()) {
    const { path, method } = operation.route;
    const methods = paths.get(path) ?? new Map<string, Operation>();
    methods.set(method, operation);
    if (method === 'GET') methods.set('HEAD', operation);
    paths.set(path, methods);
  }
  const handle = (
    req: Request,
    res: ServerResponse,
    path: string,
    methods?: ReadonlyMap<string, Operation>,
    failure?: unknown,
  ) =>
    inSpan(
      () => requestSpan(req, path, deps.secure, methods?.get(req.method ?? '')),
      (span) => handleRequest(deps, req, res, path, methods, failure, span),
    );

  const router = newRouter();
  for (const [path, methods] of paths)
    for (const spelling of spellingsOf(path, methods))
      router.route(spelling).all((req, res) => handle(req, res, path, methods));

  const fixed = new Map(
    [...paths]
      .filter(([path]) => !/[:*{]/.test(path))
      .flatMap(([path, methods]) =>
        spellingsOf(path, methods).map((spelling) => [spelling, { path, methods }] as const),
      ),
  );
  const patterns = [...paths.keys()].map(
    (path) => new RegExp(`^${path.replace(/:[a-z_]+/g, '[^/]+')}$`),
  );
  const isRoute = (path: string) => patterns.some((pattern) => pattern.test(path));
  function app(req: Request, res: ServerResponse): void {
    const [path] = splitUrl(req);
    const found = fixed.get(path);
    const unrouted = (error?: unknown) =>
      void handle(req, res, '-', undefined, failureOf(error) ?? unknownRoute(path, isRoute));
    if (found) void handle(req, res, found.path, found.methods);
    // CONNECT names a host where other methods name a path.
    else if (req.method === 'CONNECT') unrouted();
    else router(req as express.Request, res as express.Response, unrouted);
  }
  return { app, router };
}

/**
 * Clients of the agent protocols append a slash to the address, so those paths match both forms;
 * every other path refuses the slash.
 */
function spellingsOf(path: string, methods: ReadonlyMap<string, Operation>): string[] {
  const speaksProtocol = [...methods.values()].some(({ route }) => route.transport);
  return speaksProtocol ? [path, `${path}/`] : [path];
}

/** Returns the error of the router, or undefined if no route has the path. */
function failureOf(error: unknown): unknown {
  const malformed = error instanceof URIError || (error as { status?: number })?.status === 400;
  return malformed ? badPath() : error;
}

/** The problem for a path with a parameter that cannot be decoded. */
function badPath(): Problem {
  const issues = [{ path: 'path', message: 'must be percent-encoded UTF-8' }];
  return new Problem('invalid_request', { issues });
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
