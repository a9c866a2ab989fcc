import { withLineFeeds } from '../../platform/visible-text.ts';

/** The outcome of an API call. */
export type Answer<Body> =
  | { kind: 'ok'; status: number; body: Body; headers: Headers }
  | Problem
  /** No response: the request may or may not have arrived. Retry the identical request. */
  | { kind: 'unreachable' };

export interface Problem {
  kind: 'problem';
  status: number;
  code: string;
  message: string;
  /** Validation messages, keyed by field path. */
  issues: Readonly<Record<string, string>>;
  details: Readonly<Record<string, unknown>>;
}

const TIMEOUT_MS = 30_000;

/** The service refuses line breaks other than line feeds, which pasted texts may have. */
const toLineFeeds = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? withLineFeeds(value) : value;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface RequestOptions extends Pick<RequestInit, 'cache' | 'keepalive' | 'signal'> {
  body?: object | undefined;
  headers?: Record<string, string>;
}

/** Sends a JSON request to this origin. Resolves to undefined if there was no response. */
export function request(
  method: Method,
  path: string,
  { body, headers, ...options }: RequestOptions = {},
): Promise<Response | undefined> {
  return fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body, toLineFeeds) } : {}),
    ...options,
  }).catch(() => undefined);
}

/** Sends a JSON request to this origin, with a timeout of 30 seconds. Never throws. */
export async function call<Body>(
  method: Method,
  path: string,
  options: Pick<RequestOptions, 'body' | 'headers'> = {},
): Promise<Answer<Body>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await request(method, path, { ...options, signal });
  const json = await response?.json().catch(() => undefined);
  if (!response || !json) return { kind: 'unreachable' };
  const { ok, status, headers } = response;
  return ok ? { kind: 'ok', status, body: json as Body, headers } : toProblem(status, json);
}

function toProblem(status: number, body: unknown): Problem {
  const { status: statusText, error } = body as {
    status?: string;
    error?: Record<string, unknown>;
  };
  const { code, message, issues, request_id: _, ...details } = error ?? {};
  const list = Array.isArray(issues) ? (issues as { path: string; message: string }[]) : [];
  return {
    kind: 'problem',
    status,
    code: String(code ?? statusText ?? 'internal_error'),
    message: String(message ?? 'Something went wrong.'),
    issues: Object.fromEntries(list.map((issue) => [issue.path, issue.message])),
    details,
  };
}
