import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { Refusal } from '../refusal.ts';
import type { Principal, PrincipalOf, Role, Scope } from './principal.ts';
import type { ProblemCode } from './problems.ts';
import type { LimitProblem, RateLimit } from './rate-limit.ts';
import type { JsonObject } from './strict-json.ts';

/**
 * Who may call a route: anyone; the member of a browser session; anyone, with a handler that checks
 * the session (`session?`); any bearer; a bearer with a scope; a moderator with one of the roles.
 */
export type Access =
  | 'public'
  | 'session'
  | 'session?'
  | 'bearer'
  | { scope: Scope }
  | { roles: readonly Role[] };

export interface ReplyShape {
  description: string;
  /** Absent if the reply is not JSON; `type` then says what it is. */
  body?: z.ZodType;
  type?: string;
  /** Another type of the same content, for callers whose `Accept` prefers it; needs `type`. */
  alternative?: string;
  /** The reply has no body. */
  empty?: true;
  /** The media type of the stream that may be sent instead of JSON. */
  stream?: string;
  headers?: Record<string, string>;
  /**
   * `Location` of a 201, required there: `:name` is a path parameter, `{field.name}` a field of the
   * body.
   */
  location?: `/${string}`;
}

/** One operation. Routing, validation, access, limits, OpenAPI, A2A and MCP all derive from it. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/${string}`;
  summary: string;
  description?: string;
  tag: string;
  access: Access;
  /** Names of security events in the log: of a proof that is refused, and of a success. */
  securityEvents?: { failed?: string; succeeded?: string };
  /** With `session?`: the handler refuses requests without a session, with a reply of its own. */
  checksSession?: true;
  /**
   * The route speaks another protocol: the HTTP layer routes, counts and logs, and the handler
   * reads and checks the request itself (`request.incoming`). `replies` lists every response; the
   * other fields are documentation. The path also matches with a slash at its end.
   */
  transport?: true;
  /** `cookie`: `Origin` must be the base URL. Otherwise `Origin` is checked only if present. */
  origin?: 'cookie';
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Headers that the handler reads besides the common ones, for the OpenAPI document. */
  requestHeaders?: Readonly<Record<string, { description: string; schema: object }>>;
  /** Ignores unknown query parameters, which are refused by default. */
  unknownQuery?: 'ignored';
  body?: z.ZodType;
  /** The body is that of an HTML form (`application/x-www-form-urlencoded`), instead of JSON. */
  form?: true;
  /** `Cache-Control` of a public read that caches need not revalidate; such a read has no ETag. */
  cacheControl?: string;
  /** In bytes, 64 KiB by default. */
  bodyLimit?: number;
  /** The `Idempotency-Key` header; required on every /api/v1 mutation. */
  idempotency?: 'required' | 'optional';
  /**
   * Every limit that counts requests of this route. Responses tell in `RateLimit` what is left; the
   * refusal when a limit is used up need not be in `problems`.
   */
  limits?: readonly RateLimit[];
  /** Responds with 503 `api_disabled` if API_OPEN is false. */
  gated?: boolean;
  replies: Readonly<Record<number, ReplyShape>>;
  problems: readonly ProblemCode[];
  /** HTTP statuses of problems whose body is `{status}` alone. */
  bareProblems?: readonly number[];
  /** Additional headers of problems, by HTTP status: name and description. */
  problemHeaders?: Readonly<Record<number, Readonly<Record<string, string>>>>;
}

/** Whether the configuration disables a route. */
export const isDisabled = ({ gated }: Route, { apiOpen }: { apiOpen: boolean }): boolean =>
  gated === true && !apiOpen;

export type Contract = Readonly<Record<string, Route>>;

/** Defines the routes of a capability by operation id, and keeps their literal types. */
export function defineContract<const C extends Contract>(contract: C): C {
  return contract;
}

/** The limits that a route declares. */
export type LimitOf<R extends Route> =
  NonNullable<R['limits']> extends readonly (infer Limit extends RateLimit)[] ? Limit : never;

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

type PrincipalFor<A extends Access> = A extends 'public' | 'session?'
  ? Principal
  : A extends 'session'
    ? PrincipalOf<'session'>
    : A extends { roles: readonly Role[] }
      ? PrincipalOf<'moderator'>
      : PrincipalOf<'credential'>;

/** What the transport knows of a request besides its input. */
export interface RequestContext {
  id: string;
  /** The caller's address bucket: an IPv4 address or an IPv6 /64. */
  address: string;
  cookie: string | undefined;
  authorization: string | undefined;
  ifNoneMatch: string | undefined;
  lastEventId: string | undefined;
  accept?: string | undefined;
  idempotencyKey: string | undefined;
  /** Returns a signal that aborts when the caller disconnects. */
  gone(): AbortSignal;
  /** The unread request, for a route with `transport`. */
  incoming?: IncomingMessage;
}

export interface Call<R extends Route = Route> {
  operation: string;
  route: R;
  params: Parsed<R['params']>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  /** The body as sent, for the canonical hash. */
  sent: JsonObject;
  principal: PrincipalFor<R['access']>;
  request: RequestContext;
}

export interface Content {
  /** Media type; empty if there are no bytes. */
  type: string;
  bytes: Uint8Array | string;
  etag?: string;
  /** How long the same bytes are served, by which they are compressed; without it, once. */
  served?: 'until-changed' | 'always' | 'built';
}

interface Extras {
  headers?: Record<string, string>;
  /** The cursor of the next page, where `content` is serialized already. */
  next?: string;
}

interface Streamed {
  stream: AsyncIterable<string | Uint8Array>;
  type: string;
}

/** A declared reply of a route. */
export type ReplyOf<R extends Route> = {
  [Status in keyof R['replies'] & number]: Extras & {
    status: Status;
  } & (R['replies'][Status] extends {
      body: infer Body extends z.ZodType;
    }
      ? { body: z.input<Body> } | { content: Content } | Streamed
      : { content: Content } | Streamed);
}[keyof R['replies'] & number];

/** A declared reply or a declared refusal; any other outcome does not compile. */
export type HandlerOutcome<R extends Route> =
  | ReplyOf<R>
  | (Refusal<R['problems'][number] | LimitProblem<LimitOf<R>>> & Extras);

export type Handler<R extends Route> = (call: Call<R>) => Promise<HandlerOutcome<R>>;

/** Exactly one handler for each route. */
export type Handlers<C extends Contract> = { [Operation in keyof C]: Handler<C[Operation]> };

/** The routes of a contract with their handlers. */
export interface Routes<C extends Contract = Contract> {
  contract: C;
  handlers: Handlers<C>;
}

/** Joins a contract with its handlers, which the compiler checks against each other. */
export function implement<C extends Contract>(contract: C, handlers: Handlers<C>): Routes {
  return { contract, handlers } as unknown as Routes;
}

/** A reply of any route, as the transports see it. */
export interface AnyReply extends Extras {
  status: number;
  body?: unknown;
  content?: Content;
  stream?: AsyncIterable<string | Uint8Array>;
  type?: string;
}

/** The path of a request: that of the route with its parameters filled in. */
export function fillPath({ path }: Route, params: unknown): string {
  const values = (params ?? {}) as Record<string, string>;
  return path.replace(/:([a-z_]+)/g, (_, name: string) => values[name] ?? '');
}

/** Fills path parameters and fields of the body into a `location`. */
export function fillLocation(
  location: string,
  params: Readonly<Record<string, string>>,
  body: Record<string, unknown>,
): string {
  return location
    .replace(/:([a-z_]+)/g, (_, name: string) => params[name] ?? '')
    .replace(/\{([a-z_.]+)\}/g, (_, path: string) => String(fieldAt(body, path)));
}

function fieldAt(body: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], body);
}

/** Whether only moderators may call the route. */
export const isForModerators = ({ access }: Pick<Route, 'access'>): boolean =>
  typeof access === 'object' && 'roles' in access;

/** Whether `Authorization` authenticates the caller; a moderator may use a cookie as well. */
export const isByAuthorization = ({ access }: Pick<Route, 'access'>): boolean =>
  access === 'bearer' || typeof access === 'object';

/** Whether the route may change state: every method but GET. */
export function isMutation(route: Route): boolean {
  return route.method !== 'GET';
}

/** Whether responses tell what is left of a limit, in `RateLimit`. */
export const isLimited = ({ limits = [] }: Route): boolean => limits.length > 0;

/** Whether anyone may read the route without authentication. */
export const isPublicRead = (route: Route): boolean =>
  !isMutation(route) && route.access === 'public';

/** Whether replies depend on `Accept`. */
export const isNegotiated = ({ replies }: Route): boolean =>
  Object.values(replies).some(({ alternative }) => alternative !== undefined);

/** Whether the route is a page for people. */
export const isPage = ({ replies }: Route): boolean =>
  Object.values(replies).some(({ type }) => type === 'text/html');

/** Whether a page of any origin may read the response; HTML pages are only for their own origin. */
export const isReadableAnywhere = (route: Route): boolean => isPublicRead(route) && !isPage(route);

/** Whether responses have an ETag, and 304 follows a matching `If-None-Match`. */
export const isRevalidated = (route: Route): boolean =>
  isPublicRead(route) && route.cacheControl === undefined;
