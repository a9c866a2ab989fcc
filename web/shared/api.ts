import { withLineFeeds } from '../../platform/control-characters.ts';

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

/** Sends a JSON request to this origin, with a timeout of 30 seconds. Never throws. */
export async function call<Body>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  options: { body?: object; headers?: Record<string, string> } = {},
): Promise<Answer<Body>> {
  const { body, headers } = options;
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body, toLineFeeds) } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const json = await response.json();
    if (response.ok)
      return {
        kind: 'ok',
        status: response.status,
        body: json as Body,
        headers: response.headers,
      };
    return toProblem(response.status, json);
  } catch {
    return { kind: 'unreachable' };
  }
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
