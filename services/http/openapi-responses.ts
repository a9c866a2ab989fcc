import { z } from 'zod';
import { EXAMPLE_ID } from './examples.ts';
import { type ProblemCode, problemReply, problems, wireCode } from './problems.ts';
import { REASONS } from './reasons.ts';
import {
  isForModerators,
  isMutation,
  isReadableAnywhere,
  isRevalidated,
  type ReplyShape,
  type Route,
} from './route.ts';

const Issue = z.object({ path: z.string(), message: z.string() });

const ErrorDetails = z
  .object({
    code: z.string(),
    message: z.string(),
    request_id: z.string(),
    issues: z.array(Issue).optional(),
    reason: z.enum(REASONS).optional().describe('Of `state_conflict`: what is in the way'),
    current_state: z.string().optional().describe('Beside `wrong_state`'),
    current_version: z.int().optional().describe('Beside `version_mismatch` and `wrong_state`'),
    limit_bytes: z.int().optional().describe('Beside `body_too_large`'),
    retry_after: z.int().optional(),
  })
  .catchall(z.unknown())
  .meta({ id: 'Error', description: 'Finer details stand beside the code.' });

const REPLY_HEADERS = {
  'X-Request-Id': ['The id of this request', 'string'],
  'X-Contract-Version': ['The label of this contract', 'string'],
  'Cache-Control': ['Whether and how the answer may be kept', 'string'],
  'Cross-Origin-Resource-Policy': [
    '`cross-origin` where a page of any origin may read the answer, else `same-origin`',
    'string',
  ],
} as const;

const header = (description: string, type = 'string') => ({ description, schema: { type } });

const described = (headers: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text)]));

/** Headers of every answer, and what an answer says to have them. */
export const commonHeaders = Object.fromEntries(
  Object.entries(REPLY_HEADERS).map(([name, [text, type]]) => [name, header(text, type)]),
);
const common = Object.fromEntries(
  Object.keys(REPLY_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

// Of a stream of events a schema would describe each event, where the whole is meant here: none says it.
const textMedia = (type: string) => ({
  [type]: type === 'text/event-stream' ? {} : { schema: { type: 'string' } },
});

/** What the edge may refuse before a handler sees the request. */
function problemsOf(route: Route): ProblemCode[] {
  const { access } = route;
  // The server itself answers these before a handler sees the request.
  if (route.transport) return ['request_timeout', 'headers_too_large', ...route.problems];
  const codes: ProblemCode[] = [
    'invalid_request',
    'request_timeout',
    'headers_too_large',
    'internal_error',
    'storage_unavailable',
  ];
  if (route.unknownQuery !== 'ignored') codes.push('query_not_allowed');
  if (isMutation(route))
    codes.push('origin_not_allowed', 'fetch_site_not_allowed', 'outcome_unconfirmed');
  // Of two `Authorization` headers neither is looked at.
  if (isMutation(route) && !isForModerators(route)) codes.push('credential_not_accepted');
  if (route.body) codes.push('invalid_json', 'unsupported_media_type', 'body_too_large');
  if (route.idempotency) codes.push('invalid_idempotency_key');
  if (access === 'session') codes.push('session_required');
  if (access === 'bearer' || (typeof access === 'object' && 'scope' in access))
    codes.push('credential_required', 'credential_not_accepted');
  if (typeof access === 'object') codes.push(...('scope' in access ? SCOPED : MODERATORS));
  if (route.gated) codes.push('api_disabled');
  const all = [...new Set([...codes, ...route.problems])];
  // Declared with what any command may be refused with; the exempt ones are not, by the budget.
  return route.budgetExempt ? all.filter((code) => code !== 'write_budget_exhausted') : all;
}

const SCOPED = ['scope_required'] as const;
const MODERATORS = ['moderator_required', 'role_required'] as const;

/** To the methods that a path does not take: it stands with each that it does. */
const OTHER_METHOD: Answering = {
  problemHeaders: { 405: { Allow: 'The methods that the path takes' } },
};

/** Every answer that an operation can give, by its HTTP number. */
export function responsesOf(route: Route): Record<string, object> {
  const responses: Record<string, object> = {};
  const revalidated = isRevalidated(route);
  const crossOrigin = isReadableAnywhere(route)
    ? described({ 'Access-Control-Allow-Origin': '`*`: any page may read the answer' })
    : {};
  for (const [status, reply] of Object.entries(route.replies)) {
    responses[status] = {
      description: reply.description,
      headers: {
        ...common,
        ...crossOrigin,
        ...(revalidated ? { ETag: header('Of exactly these bytes') } : {}),
        ...described(reply.headers),
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
        ...described(route.replies[200]?.headers),
        ETag: header('Of the present bytes'),
      },
    };
  const byStatus = Map.groupBy(problemsOf(route), (code) => problems[code][0]);
  for (const [status, codes] of byStatus) {
    if (responses[status]) throw new Error(`${route.path}: ${status} is a reply and a problem`);
    responses[status] = problemResponse(route, status, codes);
  }
  responses['405'] = problemResponse(OTHER_METHOD, 405, ['method_not_allowed']);
  return responses;
}

function contentOf({ body, stream, type }: ReplyShape): object {
  if (!body) return textMedia(type ?? 'application/octet-stream');
  return { 'application/json': { schema: body }, ...(stream ? textMedia(stream) : {}) };
}

type Answering = Pick<Route, 'bareProblems' | 'problemHeaders'>;

function problemResponse(route: Answering, status: number, codes: ProblemCode[]): object {
  const bare = route.bareProblems?.includes(status);
  const words = [...new Set(codes.map(wireCode))].sort();
  const code = z.enum(words as [string, ...string[]]);
  const [first] = codes as [ProblemCode, ...ProblemCode[]];
  const { body } = problemReply(first, {}, EXAMPLE_ID);
  return {
    description: words.map((word) => `\`${word}\``).join(', '),
    headers: {
      ...common,
      ...(status === 429 ? { 'Retry-After': header('Seconds to wait', 'integer') } : {}),
      ...(status === 401 ? { 'WWW-Authenticate': header('The scheme to use, for bearers') } : {}),
      ...described(route.problemHeaders?.[status]),
    },
    content: {
      'application/json': {
        schema: z.object(bare ? { status: code } : { status: code, error: ErrorDetails }),
        example: bare ? { status: body.status } : body,
      },
    },
  };
}
