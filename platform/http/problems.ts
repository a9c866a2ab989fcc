import { randomInt } from 'node:crypto';
import type { Refusal } from '../refusal.ts';

/**
 * The error model: every code, its HTTP status and its default message. No other module maps a
 * refusal to an HTTP status.
 */
export const problems = {
  invalid_json: [400, 'The body must be one strict JSON object.'],
  invalid_request: [400, 'The request is not valid; see issues.'],
  invalid_cursor: [400, 'The cursor is not one that this list gave you.'],
  cursor_reset: [
    400,
    'The log was restored. Drop what came after kept_through, and continue from cursor.',
  ],
  invalid_idempotency_key: [400, 'The Idempotency-Key header is required once, as a UUIDv4.'],
  query_not_allowed: [400, 'The route does not accept this query parameter.'],
  credential_required: [401, 'A bearer credential is required.'],
  credential_not_accepted: [401, 'The credential is not accepted.'],
  credentials_not_accepted: [401, 'The id and key are not accepted.'],
  session_required: [401, 'A valid session is required.'],
  moderator_required: [401, 'Moderator authentication is required.'],
  origin_not_allowed: [403, 'The Origin header must be the address of this service.'],
  fetch_site_not_allowed: [403, 'The Sec-Fetch-Site header, if sent, must be same-origin.'],
  scope_required: [403, 'The credential does not have the required scope.'],
  scope_escalation: [
    403,
    'A replacement cannot have scopes that the current credential does not have.',
  ],
  role_required: [403, 'Your role does not allow this.'],
  not_found: [404, 'Not found: no record with this id.'],
  reply_target_missing: [404, 'The note to reply to is not available.'],
  method_not_allowed: [405, 'The path does not accept this method; see the Allow header.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  idempotency_conflict: [409, 'This Idempotency-Key was used for another request.'],
  state_conflict: [409, 'The current state does not allow this.'],
  submission_conflict: [409, 'This id was already used for a different submission.'],
  registration_conflict: [409, 'This id or handle is already registered.'],
  reply_target_unavailable: [409, 'The note to reply to is not available.'],
  gone: [410, 'This is no longer available: it was withdrawn, removed or erased.'],
  body_too_large: [413, 'The body exceeds the size limit of this route.'],
  unsupported_media_type: [415, 'The body must be uncompressed application/json in UTF-8.'],
  rate_limited: [429, 'Too many attempts. Try again later.'],
  write_budget_exhausted: [429, 'The daily write budget is used up.'],
  headers_too_large: [431, 'The headers exceed the size limit.'],
  internal_error: [500, 'An internal error occurred. Quote the request id when you report it.'],
  storage_unavailable: [503, 'Storage is unavailable. Nothing was changed; try again.'],
  outcome_unconfirmed: [
    503,
    'The write may or may not have happened. Repeat the same request exactly.',
  ],
  overloaded: [503, 'The service has too much to do. Nothing was changed; try again.'],
  admission_closed: [503, 'New registrations or notes are closed at the moment.'],
  capacity_reached: [503, 'The service has reached its capacity.'],
  api_disabled: [503, 'This part of the API is disabled.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof problems;

/** Refusals that every mutation of the API can return. */
export const COMMAND_PROBLEMS = [
  'credential_not_accepted',
  'idempotency_conflict',
] as const satisfies readonly ProblemCode[];

/** Hides anything as long as a key in text that echoes input, since a client may misplace a key. */
export function withoutKeys(text: string): string {
  return text.replace(/[\w-]{43,}/g, '(hidden)');
}

/** Seconds after which a rate-limited client may try again. */
const RETRY_AFTER = 600;

/** Seconds after which a client may repeat a request that met a moment of trouble. */
function retrySoon(code: ProblemCode): number | undefined {
  // At random, so that not all who were refused come back together.
  if (code === 'overloaded') return randomInt(1, 6);
  return code === 'storage_unavailable' || code === 'outcome_unconfirmed' ? 1 : undefined;
}

/**
 * Returns the code that is sent. Two problems share one: the 404 of a read and the 409 of a write.
 */
export const wireCode = (code: ProblemCode): string =>
  code === 'reply_target_missing' ? 'reply_target_unavailable' : code;

interface ProblemBody {
  status: string;
  error: { code: string; message: string; request_id: string } & Record<string, unknown>;
}

/**
 * A problem that the HTTP layer throws while it reads and checks a request. Handlers and deciders
 * return refusals instead.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    code: ProblemCode,
    details: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(code);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** Converts a refusal to the problem that a transport responds with. */
export function problemFrom({
  refused,
  details,
  headers,
}: Refusal & Partial<Pick<Problem, 'headers'>>): Problem {
  return new Problem(refused as ProblemCode, details, headers);
}

/**
 * Builds the status, headers and body of a problem. A `message` in the details replaces the default
 * message.
 */
export function problemReply(code: ProblemCode, details: Record<string, unknown>, id: string) {
  const [status, message] = problems[code];
  const limited = status === 429;
  const body: ProblemBody = {
    status: wireCode(code),
    error: {
      code: wireCode(code),
      message,
      request_id: id,
      ...details,
      ...(limited ? { retry_after: RETRY_AFTER } : {}),
    },
  };
  const wait = limited ? RETRY_AFTER : retrySoon(code);
  const headers: Record<string, string> = wait ? { 'retry-after': String(wait) } : {};
  return { status, headers, body };
}
