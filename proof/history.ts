export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a client reads whatever was answered
  body: any;
  cookie: string | undefined;
}

/** One operation of one client. `unknown`: no answer, or one that says that nobody knows. */
export interface Entry {
  operation: string;
  member: string;
  key: string;
  credential: string | null;
  invoked: number;
  answered: number;
  outcome: 'done' | 'refused' | 'unknown';
  answer: Answer | undefined;
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer | undefined>;

export type History = ReturnType<typeof openHistory>;

/** What every client saw, on one clock. */
export function openHistory() {
  const entries: Entry[] = [];
  const secrets = new Set<string>();
  /** Ids of notes that a reader of the guestbook saw. */
  const published = new Set<string>();
  const faults: string[] = [];
  /** What a client itself saw to be wrong. */
  const wrong: string[] = [];
  return { entries, secrets, published, faults, wrong, now: () => performance.now() };
}

const PATIENCE_MS = 8000;

/** Requests to one of several addresses; undefined where there was no answer. */
export function openCall(addresses: readonly string[], choose: () => number): Call {
  return async (method, path, body, headers = {}) => {
    const base = addresses[choose() % addresses.length];
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          ...(method === 'GET' ? {} : { origin: addresses[0] ?? '' }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const cookie = response.headers.get('set-cookie')?.split(';')[0];
      return { status: response.status, body: text ? JSON.parse(text) : undefined, cookie };
    } catch {
      return undefined;
    }
  };
}

/** Whether this answer leaves open what happened. */
export const open = (answer: Answer | undefined): boolean =>
  answer === undefined || answer.status >= 500 || answer.status === 408;
