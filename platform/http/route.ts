import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { Refusal } from '../refusal.ts';
import type { Principal, PrincipalOf, Role } from './principal.ts';
import type { ProblemCode } from './problems.ts';
import type { Scope } from './scopes.ts';
import type { JsonObject } from './strict-json.ts';

/**
 * Who may call: anyone; the member of a browser session; `session?`, whose handler looks at the
 * session itself; any bearer; a bearer with a scope; a moderator with one of the roles.
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
  /** Absent: the reply is no JSON; `type` says what it is. */
  body?: z.ZodType;
  type?: string;
  /** There is no body at all. */
  empty?: true;
  /** The media type that it is streamed as, where it may be answered so instead of as JSON. */
  stream?: string;
  headers?: Record<string, string>;
  /**
   * `Location` of a 201, obligatory there: `:name` is a path parameter, `{field.name}` a field of the
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
  /**
   * Speaks a protocol of its own: the edge routes, counts and logs, and the handler reads and checks
   * the request itself (`request.incoming`). Every answer is among the replies; the rest of the row
   * is documentation. The path is served with a slash at its end as well.
   */
  transport?: true;
  /** `cookie`: Origin must be the base URL. Otherwise it is checked only where it is present. */
  origin?: 'cookie';
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Headers that the handler reads, beside those that all rows of the kind have: for the document. */
  requestHeaders?: Readonly<Record<string, { description: string; schema: object }>>;
  /** Unknown query parameters: refused unless this says that they are ignored. */
  unknownQuery?: 'ignored';
  body?: z.ZodType;
  /** `Cache-Control` of a public read that is not revalidated each time: it has no ETag. */
  cacheControl?: string;
  /** In bytes; 64 KiB where nothing is said. */
  bodyLimit?: number;
  /** The `Idempotency-Key` header: obligatory on every /api/v1 mutation. */
  idempotency?: 'required' | 'optional';
  /** Does not count against the daily write budget. */
  budgetExempt?: boolean;
  /** Answers 503 `api_disabled` where API_OPEN is false. */
  gated?: boolean;
  replies: Readonly<Record<number, ReplyShape>>;
  problems: readonly ProblemCode[];
  /** HTTP numbers of problems whose body is `{status}` alone. */
  bareProblems?: readonly number[];
  /** Headers of problems beside those that all have, by HTTP number: name and description. */
  problemHeaders?: Readonly<Record<number, Readonly<Record<string, string>>>>;
}

export type Contract = Readonly<Record<string, Route>>;

export function defineContract<const C extends Contract>(contract: C): C {
  return contract;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

type PrincipalFor<A extends Access> = A extends 'public' | 'session?'
  ? Principal
  : A extends 'session'
    ? PrincipalOf<'session'>
    : A extends { roles: readonly Role[] }
      ? PrincipalOf<'moderator'>
      : PrincipalOf<'credential'>;

/** What the transport knows of a request beside its input. */
export interface RequestFacts {
  id: string;
  /** The caller's address bucket: an IPv4 address or an IPv6 /64. */
  address: string;
  cookie: string | undefined;
  authorization: string | undefined;
  ifNoneMatch: string | undefined;
  lastEventId: string | undefined;
  accept?: string | undefined;
  idempotencyKey: string | undefined;
  /** Aborted when the caller goes. */
  gone(): AbortSignal;
  /** The request itself, unread, for a row with `transport`. */
  incoming?: IncomingMessage;
}

export interface Call<R extends Route = Route> {
  operation: string;
  route: R;
  params: Parsed<R['params']>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  /** The body as it was sent, for the canonical hash. */
  sent: JsonObject;
  principal: PrincipalFor<R['access']>;
  request: RequestFacts;
}

export interface Content {
  /** Empty where there are no bytes. */
  type: string;
  bytes: Uint8Array | string;
  etag?: string;
  /** Served for the life of the process: it is worth compressing it well. */
  kept?: true;
}

interface Extras {
  headers?: Record<string, string>;
}

interface Streamed {
  stream: AsyncIterable<string | Uint8Array>;
  type: string;
}

type ReplyOf<R extends Route> = {
  [Status in keyof R['replies'] & number]: Extras & {
    status: Status;
  } & (R['replies'][Status] extends {
      body: infer Body extends z.ZodType;
    }
      ? { body: z.input<Body> } | { content: Content } | Streamed
      : { content: Content } | Streamed);
}[keyof R['replies'] & number];

/** A declared reply or a declared refusal; anything else does not compile. */
export type Outcome<R extends Route> = ReplyOf<R> | (Refusal<R['problems'][number]> & Extras);

export type Handler<R extends Route> = (call: Call<R>) => Promise<Outcome<R>>;

/** Exactly one handler for each row. */
export type Handlers<C extends Contract> = { [Operation in keyof C]: Handler<C[Operation]> };

/** A feature: its rows and their handlers. */
export interface Feature<C extends Contract = Contract> {
  contract: C;
  handlers: Handlers<C>;
}

export function feature<C extends Contract>(contract: C, handlers: Handlers<C>): Feature {
  return { contract, handlers } as unknown as Feature;
}

/** A reply of any row, as the transports see it. */
export interface AnyReply extends Extras {
  status: number;
  body?: unknown;
  content?: Content;
  stream?: AsyncIterable<string | Uint8Array>;
  type?: string;
}

/** The path of a request: the route's, with its parameters in place. */
export function pathOf({ path }: Route, params: unknown): string {
  const values = (params ?? {}) as Record<string, string>;
  return path.replace(/:([a-z_]+)/g, (_, name: string) => values[name] ?? '');
}

/** A `location` of the table with its parameters and fields in place. */
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

export const isForModerators = ({ access }: Pick<Route, 'access'>): boolean =>
  typeof access === 'object' && 'roles' in access;

/** Proven by `Authorization`; a moderator by a cookie, too. */
export const isByAuthorization = ({ access }: Pick<Route, 'access'>): boolean =>
  access === 'bearer' || typeof access === 'object';

export function isMutation(route: Route): boolean {
  return route.method !== 'GET';
}

export const isPublicRead = (route: Route): boolean =>
  !isMutation(route) && route.access === 'public';

/** A page of any origin may read it. Pages for people are for their own origin. */
export const isReadableAnywhere = (route: Route): boolean =>
  isPublicRead(route) && route.replies[200]?.type !== 'text/html';

/** Answered with an ETag, and with 304 to whoever has it. */
export const isRevalidated = (route: Route): boolean =>
  isPublicRead(route) && route.cacheControl === undefined;
