/** What an answer of the API comes to, for a page. */
export type Answer<Body> =
  | { kind: 'done'; status: number; body: Body; headers: Headers }
  | Problem
  /** No answer: the request may or may not have arrived. Repeat it exactly. */
  | { kind: 'unreachable' };

export interface Problem {
  kind: 'problem';
  status: number;
  code: string;
  message: string;
  /** What is wrong with each field, by its path. */
  issues: Readonly<Record<string, string>>;
  details: Readonly<Record<string, unknown>>;
}

const PATIENCE_MS = 30_000;

/** One request to the API of this origin. Never throws. */
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
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const answered = await response.json();
    if (response.ok)
      return {
        kind: 'done',
        status: response.status,
        body: answered as Body,
        headers: response.headers,
      };
    return problemOf(response.status, answered);
  } catch {
    return { kind: 'unreachable' };
  }
}

function problemOf(status: number, body: unknown): Problem {
  const { status: word, error } = body as { status?: string; error?: Record<string, unknown> };
  const { code, message, issues, request_id: _, ...details } = error ?? {};
  const list = Array.isArray(issues) ? (issues as { path: string; message: string }[]) : [];
  return {
    kind: 'problem',
    status,
    code: String(code ?? word ?? 'internal_error'),
    message: String(message ?? 'Something went wrong.'),
    issues: Object.fromEntries(list.map((issue) => [issue.path, issue.message])),
    details,
  };
}

/** The address behind `rel="next"`, where a list goes on. */
export function nextLink(headers: Headers): string | undefined {
  return /<([^>]+)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
}
