import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { PAGE_HEADERS } from './page-headers.ts';
import { type ProblemCode, problemReply, problems, wireCode } from './problems.ts';
import { limitProblem } from './rate-limit.ts';
import {
  isForModerators,
  isLimited,
  isMutation,
  isPage,
  isReadableAnywhere,
  isRevalidated,
  type ReplyShape,
  type Route,
} from './route.ts';

/** Every error code, as sent on the wire. */
const CODES = [...new Set((Object.keys(problems) as ProblemCode[]).map(wireCode))].sort();

const ErrorCode = z
  .enum(CODES as [string, ...string[]])
  .meta({ id: 'ErrorCode', description: 'What went wrong.' });

const Issue = z
  .object({ path: z.string(), message: z.string() })
  .meta({ id: 'Issue', description: 'A field that does not fit, and why' });

/** How the document describes refusals. */
export interface ProblemDocuments {
  /** The body of every refusal. */
  body: z.ZodType;
  /** The body of a refusal where an operation may answer with the code alone. */
  bare: z.ZodType;
  /** Details in the example of a code. */
  examples: ExampleDetails;
}

type ExampleDetails = Readonly<Partial<Record<ProblemCode, Record<string, unknown>>>>;

/**
 * Describes the refusals of a service: `details` are the fields that errors may have beside their code,
 * message and issues. Call it once, because the schemas have names.
 */
export function documentProblems(
  details: z.ZodRawShape,
  examples: ExampleDetails,
): ProblemDocuments {
  const error = z
    .object({
      code: ErrorCode,
      message: z.string(),
      request_id: z.string(),
      issues: z.array(Issue).optional().describe('With `invalid_request`, `query_not_allowed`'),
      ...details,
    })
    .catchall(z.unknown())
    .meta({ id: 'ErrorDetails', description: 'The code, and the details that belong to it.' });
  return {
    body: z.object({ status: ErrorCode, error }).meta({
      id: 'Problem',
      description: 'The body of every refusal. `status` repeats `error.code`.',
    }),
    bare: z.object({ status: ErrorCode, error: error.optional() }).meta({
      id: 'BareProblem',
      description: 'A refusal. Where an operation answers with the code alone, `error` is absent.',
    }),
    examples,
  };
}

const REPLY_HEADERS = {
  'X-Request-Id': ['The id of this request', 'string'],
  'X-Contract-Version': ['The label of this contract', 'string'],
  'Cache-Control': ['Whether and how the answer may be kept', 'string'],
  'Cross-Origin-Resource-Policy': [
    '`cross-origin` where a page of any origin may read the answer, else `same-origin`',
    'string',
  ],
} as const;

/** Headers of routes with a limit. A refusal before the request was counted has none. */
const LIMIT_HEADERS = {
  'RateLimit-Policy': [
    'On routes with a limit: each limit, its quota (`q`) and its window in seconds (`w`)',
    'string',
  ],
  RateLimit: [
    'On routes with a limit: what is left of each (`r`), and the seconds until its window ends (`t`)',
    'string',
  ],
} as const;

/** Statuses with which a route may refuse a request that was counted. */
const COUNTED_STATUSES = [400, 401, 404, 409, 429, 503];

const header = (description: string, type = 'string') => ({ description, schema: { type } });

const described = (headers: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [
      name,
      header(text, name === 'Retry-After' ? 'integer' : 'string'),
    ]),
  );

/** Headers that responses share and include by reference; those of `REPLY_HEADERS` are in each. */
export const commonHeaders = Object.fromEntries(
  Object.entries({ ...REPLY_HEADERS, ...LIMIT_HEADERS }).map(([name, [text, type]]) => [
    name,
    header(text, type),
  ]),
);
const references = (headers: object) =>
  Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
const common = references(REPLY_HEADERS);
const limited = references(LIMIT_HEADERS);

// No schema for `text/event-stream`: it would describe each event instead of the whole stream.
const textMedia = (type: string) => ({
  [type]:
    type === 'text/event-stream'
      ? {}
      : { schema: { type: type.endsWith('+json') ? 'object' : 'string' } },
});

/**
 * Every problem of a route: those that it declares, and those of the HTTP layer before its handler.
 */
function problemsOf(route: Route): ProblemCode[] {
  const { access } = route;
  // The HTTP layer sends the first two before the handler reads the request.
  if (route.transport) return ['request_timeout', 'headers_too_large', ...route.problems];
  const codes: ProblemCode[] = [
    'invalid_request',
    'request_timeout',
    'headers_too_large',
    'internal_error',
    'storage_unavailable',
    'overloaded',
  ];
  if (route.unknownQuery !== 'ignored') codes.push('query_not_allowed');
  if (isMutation(route))
    codes.push('origin_not_allowed', 'fetch_site_not_allowed', 'outcome_unconfirmed');
  // A mutation with two `Authorization` headers is refused, whatever they contain.
  if (isMutation(route) && !isForModerators(route)) codes.push('credential_not_accepted');
  if (route.body) codes.push('invalid_json', 'unsupported_media_type', 'body_too_large');
  if (route.idempotency) codes.push('invalid_idempotency_key');
  if (access === 'session') codes.push('session_required');
  if (access === 'bearer' || (typeof access === 'object' && 'scope' in access))
    codes.push('credential_required', 'credential_not_accepted');
  if (typeof access === 'object') codes.push(...('scope' in access ? SCOPED : MODERATORS));
  if (route.gated) codes.push('api_disabled');
  return [...new Set([...codes, ...route.problems, ...(route.limits ?? []).map(limitProblem)])];
}

/** The header `Link` of a list. */
const NEXT_PAGE = 'The next page, with rel="next", where there is one';

const SCOPED = ['scope_required'] as const;
const MODERATORS = ['moderator_required', 'role_required'] as const;

/** Every response of an operation, by HTTP status. */
export function responsesFor(route: Route, documents: ProblemDocuments): Record<string, object> {
  const responses: Record<string, object> = {};
  const revalidated = isRevalidated(route);
  const crossOrigin = isReadableAnywhere(route)
    ? described({ 'Access-Control-Allow-Origin': '`*`: any page may read the answer' })
    : {};
  const isList = !isPage(route) && route.query && 'cursor' in route.query.shape;
  const link = isList ? described({ Link: NEXT_PAGE }) : {};
  for (const [status, reply] of Object.entries(route.replies)) {
    responses[status] = {
      description: reply.description,
      headers: {
        ...common,
        ...crossOrigin,
        ...(revalidated ? { ETag: header('Identifies exactly these bytes') } : {}),
        ...(isLimited(route) ? limited : {}),
        ...(reply.body ? link : {}),
        ...described(reply.headers),
        ...(reply.location ? { Location: header(locationText(reply.location)) } : {}),
      },
      ...(reply.empty ? {} : { content: contentOf(reply) }),
    };
  }
  if (revalidated)
    responses['304'] = {
      description: 'Not modified: If-None-Match names the present ETag',
      headers: {
        ...common,
        ...crossOrigin,
        ...link,
        ...described(route.replies[200]?.headers),
        ETag: header('Identifies the current bytes'),
      },
    };
  const byStatus = Map.groupBy(problemsOf(route), (code) => problems[code][0]);
  for (const [status, codes] of byStatus) {
    if (responses[status]) throw new Error(`${route.path}: ${status} is a reply and a problem`);
    responses[status] = problemOf(route, status, codes, documents);
  }
  responses['405'] = problemOf(route, 405, ['method_not_allowed'], documents);
  return responses;
}

const locationText = (template: string) =>
  `The path of the created resource: \`${template.replace(/:([a-z_]+)/g, '{$1}')}\``;

function contentOf({ body, stream, type, alternative }: ReplyShape): object {
  if (!body)
    return {
      ...textMedia(type ?? 'application/octet-stream'),
      ...(alternative ? textMedia(alternative) : {}),
    };
  return { 'application/json': { schema: body }, ...(stream ? textMedia(stream) : {}) };
}

/** Component names of the problem responses, by HTTP status. */
const PROBLEM_NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
};

const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: {
    'WWW-Authenticate':
      'Where a bearer is accepted: `Bearer`, with `error="invalid_token"` if a bearer was sent',
  },
  403: {
    'WWW-Authenticate': 'With `scope_required`: `Bearer error="insufficient_scope", scope="…"`',
  },
  405: { Allow: 'The methods that the path takes' },
  415: { 'Accept-Encoding': 'With a compressed body: `identity`' },
  429: { 'Retry-After': 'Seconds to wait' },
  503: {
    'Retry-After':
      'Seconds to wait, with `overloaded`, `storage_unavailable` and `outcome_unconfirmed`',
  },
};

const problemHeaders = (status: number) => ({
  ...common,
  ...(COUNTED_STATUSES.includes(status) ? limited : {}),
  ...described(PROBLEM_HEADERS[status]),
});

const EXAMPLE_REQUEST_ID = '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f';

const exampleReply = (code: ProblemCode, { examples }: ProblemDocuments) =>
  problemReply(code, examples[code] ?? {}, EXAMPLE_REQUEST_ID);

const listed = (codes: readonly ProblemCode[]): string =>
  [...new Set(codes.map(wireCode))]
    .sort()
    .map((code) => `\`${code}\``)
    .join(', ');

const CODES_BY_STATUS = Map.groupBy(
  Object.keys(problems) as ProblemCode[],
  (code) => problems[code][0] as number,
);

/** Statuses of the problems that a page for people can answer with. */
const PAGE_STATUSES = [400, 401, 403, 404, 408, 410, 413, 415, 429, 431, 500, 503];

/**
 * Builds one response for each HTTP status of a problem, with an example of each of its codes, and
 * one more for pages, which answer in HTML where it is asked for.
 */
export function problemResponses(
  documents: ProblemDocuments,
): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(
    [...CODES_BY_STATUS].flatMap(([status, codes]) => {
      const response = problemResponse(status, codes, documents);
      const { headers, content } = response;
      const page = {
        ...response,
        headers: { ...headers, ...described(PAGE_HEADERS) } as never,
        content: { ...content, ...textMedia('text/html') },
      };
      const name = PROBLEM_NAMES[status];
      return [[name, response], ...(PAGE_STATUSES.includes(status) ? [[`${name}Page`, page]] : [])];
    }),
  );
}

function problemResponse(
  status: number,
  codes: readonly ProblemCode[],
  documents: ProblemDocuments,
): ZodOpenApiResponseObject {
  const examples = codes.map((code) => {
    const { body } = exampleReply(code, documents);
    return [wireCode(code), { value: body }];
  });
  return {
    description: listed(codes),
    headers: problemHeaders(status) as never,
    content: {
      'application/json': { schema: documents.body, examples: Object.fromEntries(examples) },
    },
  };
}

/**
 * References the shared response of a status, and lists the codes of this operation if it does not
 * use all of them.
 */
function sharedProblem(status: number, codes: readonly ProblemCode[], suffix = ''): object {
  const description = listed(codes);
  const all = listed(CODES_BY_STATUS.get(status) ?? []);
  return {
    $ref: `#/components/responses/${PROBLEM_NAMES[status]}${suffix}`,
    ...(description === all ? {} : { description }),
  };
}

function problemOf(
  route: Route,
  status: number,
  codes: readonly ProblemCode[],
  documents: ProblemDocuments,
): object {
  const own = route.problemHeaders?.[status];
  const bare = route.bareProblems?.includes(status);
  const suffix = isPage(route) && PAGE_STATUSES.includes(status) ? 'Page' : '';
  if (!own && !route.bareProblems) return sharedProblem(status, codes, suffix);
  const [first] = codes as [ProblemCode, ...ProblemCode[]];
  const { body } = exampleReply(first, documents);
  return {
    description: listed(codes),
    headers: { ...problemHeaders(status), ...described(own) },
    content: {
      'application/json': {
        // Some code generators allow one schema for all refusals of an operation.
        schema: route.bareProblems ? documents.bare : documents.body,
        example: bare ? { status: body.status } : body,
      },
    },
  };
}
