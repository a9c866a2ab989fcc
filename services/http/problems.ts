import type { Refusal } from '../eventstore/decider.ts';
import { reasonMessage } from './reasons.ts';

/**
 * The whole error model: every code, its HTTP number and what it says where nothing finer is said.
 * Nothing else in the project knows an HTTP number of a refusal.
 */
export const problems = {
  invalid_json: [400, 'The body is not one strict JSON object.'],
  invalid_request: [400, 'The request does not fit its schema.'],
  invalid_cursor: [400, 'The cursor is not one that this list gave you.'],
  invalid_idempotency_key: [400, 'Idempotency-Key must be a UUIDv4, once.'],
  query_not_allowed: [400, 'This route does not take that query parameter.'],
  credential_required: [401, 'A bearer credential is required.'],
  credential_not_accepted: [401, 'The credential is not accepted.'],
  credentials_not_accepted: [401, 'The id and key are not accepted.'],
  session_required: [401, 'A current session is required.'],
  moderator_required: [401, 'A moderator is required.'],
  origin_not_allowed: [403, 'The Origin header must be the address of this service.'],
  fetch_site_not_allowed: [403, 'Sec-Fetch-Site must be same-origin where it is sent.'],
  scope_required: [403, 'The credential lacks the scope.'],
  scope_escalation: [403, 'A replacement cannot have scopes that the current credential lacks.'],
  role_required: [403, 'Your role does not allow this.'],
  not_found: [404, 'There is nothing here.'],
  reply_target_missing: [404, 'The note to reply to is not available.'],
  method_not_allowed: [405, 'This path does not take that method.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  idempotency_conflict: [409, 'This Idempotency-Key was used for another request.'],
  state_conflict: [409, 'The present state does not allow this.'],
  submission_conflict: [409, 'This id belongs to another submission.'],
  registration_conflict: [409, 'This id or handle belongs to another registration.'],
  reply_target_unavailable: [409, 'The note to reply to is not available.'],
  gone: [410, 'This was withdrawn or erased.'],
  body_too_large: [413, 'The body is larger than this route takes.'],
  unsupported_media_type: [415, 'The body must be application/json in UTF-8, not compressed.'],
  rate_limited: [429, 'Too many attempts. Try again later.'],
  write_budget_exhausted: [429, 'The daily write budget is used up.'],
  headers_too_large: [431, 'The headers are larger than this service takes.'],
  internal_error: [500, 'Something went wrong here. The request id helps to find it.'],
  storage_unavailable: [503, 'Storage is unavailable. Nothing was changed; try again.'],
  outcome_unconfirmed: [
    503,
    'The write may or may not have happened. Repeat the same request exactly.',
  ],
  admission_closed: [503, 'The service does not take this at present.'],
  capacity_reached: [503, 'The service is full.'],
  api_disabled: [503, 'This part of the API is switched off.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof problems;

/** What every mutation of the API may be refused with, whatever it does. */
export const COMMAND_PROBLEMS = [
  'credential_not_accepted',
  'idempotency_conflict',
  'write_budget_exhausted',
] as const satisfies readonly ProblemCode[];

/** A text that names what was sent, which may be a key in the wrong place: no run as long as one. */
export function withoutKeys(text: string): string {
  return text.replace(/[\w-]{43,}/g, '(hidden)');
}

/** Seconds after which a rate-limited client may try again. */
const RETRY_AFTER = 600;

/** Two problems share one word on the wire: as a read's 404 and as a write's 409. */
export const wireCode = (code: ProblemCode): string =>
  code === 'reply_target_missing' ? 'reply_target_unavailable' : code;

interface ProblemBody {
  status: string;
  error: { code: string; message: string; request_id: string } & Record<string, unknown>;
}

/**
 * A thrown problem, for the edge alone (reading and checking a request). Handlers and deciders
 * return refusals.
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

/** What a transport tells of a refusal. */
export function problemFrom({
  refused,
  details,
  headers,
}: Refusal & Partial<Pick<Problem, 'headers'>>): Problem {
  return new Problem(refused as ProblemCode, details, headers);
}

/**
 * Status, headers and body of a problem. What its reason says, or a `message` in the details, replaces
 * the general one.
 */
export function problemReply(code: ProblemCode, details: Record<string, unknown>, id: string) {
  const [status, message] = problems[code];
  const limited = status === 429;
  const body: ProblemBody = {
    status: wireCode(code),
    error: {
      code: wireCode(code),
      message: reasonMessage(details) ?? message,
      request_id: id,
      ...details,
      ...(limited ? { retry_after: RETRY_AFTER } : {}),
    },
  };
  const headers: Record<string, string> = limited ? { 'retry-after': String(RETRY_AFTER) } : {};
  return { status, headers, body };
}
