export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a client reads whatever was answered
  body: any;
  cookie: string | undefined;
}

/**
 * What a client knows of an operation. `refused`: it was told that nothing happened. `unknown`: an
 * answer is missing, or says that nobody knows.
 */
export type Outcome = 'done' | 'refused' | 'unknown';

/** One operation of one client, however often it was sent. Times are milliseconds of the epoch. */
export interface Entry {
  operation: string;
  /** The id of the member or moderator; a guest's address. */
  actor: string;
  address: string;
  /** What storage keeps its receipt under; null where the operation has none. */
  key: string | null;
  /** What it is done to, where there is no receipt: a session, a note. */
  subject: string | null;
  credential: string | null;
  invoked: number;
  answered: number;
  /** How often it was sent without a word of what became of it. */
  lost: number;
  outcome: Outcome;
  status: number;
  /** The events that the answer names. */
  events: readonly string[];
}

/** A note that a reader of the guestbook was shown. */
export interface Sighting {
  note: string;
  invoked: number;
  answered: number;
}

/** A fault, while it lasted. `crash`: PostgreSQL lost what it need not have flushed. */
export interface Fault {
  name: string;
  began: number;
  ended: number;
  crash: boolean;
}

/** What a reader of a member's feed was given; `whole` where it read to the end. */
export interface Seen {
  member: string;
  events: { id: string; sequence: number }[];
  whole: boolean;
}

export type History = ReturnType<typeof openHistory>;

/** What every client saw, on one clock. */
export function openHistory(keep: (text: string) => void = () => undefined) {
  const entries: Entry[] = [];
  const sightings: Sighting[] = [];
  /** Notes whose author was told that they will not be public, and when. */
  const told: { note: string; answered: number }[] = [];
  const faults: Fault[] = [];
  const secrets = new Set<string>();
  /** What each member writes into all of its texts but notes, which may stay when it goes. */
  const words = new Map<string, string>();
  /** What a client itself saw to be wrong. */
  const wrong: string[] = [];
  const now = () => performance.timeOrigin + performance.now();
  return { entries, sightings, told, faults, secrets, words, wrong, now, keep };
}

const PATIENCE_MS = 8000;

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Call = (request: Request) => Promise<Answer | undefined>;

/** Requests to one of several addresses; undefined where there was no answer. */
export function openCall(
  addresses: readonly string[],
  choose: () => number,
  keep: (text: string) => void,
): Call {
  return async ({ method, path, body, headers = {} }) => {
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
      for (const [name, value] of response.headers) if (name !== 'set-cookie') keep(value);
      keep(text);
      const cookie = response.headers.get('set-cookie')?.split(';')[0];
      return { status: response.status, body: text ? JSON.parse(text) : undefined, cookie };
    } catch {
      return undefined;
    }
  };
}

const code = (answer: Answer): unknown => answer.body?.error?.code ?? answer.body?.status;

/** Nothing happened, and the same may be asked again. */
export const nothing = (answer: Answer | undefined): boolean =>
  answer?.status === 503 && code(answer) === 'storage_unavailable';

/** Nobody knows what happened. */
export const open = (answer: Answer | undefined): boolean =>
  answer === undefined ||
  answer.status === 408 ||
  answer.status === 500 ||
  (answer.status === 503 && code(answer) === 'outcome_unconfirmed');

export const done = (answer: Answer | undefined): answer is Answer =>
  answer !== undefined && answer.status < 300;
