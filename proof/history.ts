export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: clients read any field of the JSON
  body: any;
  cookie: string | undefined;
}

/**
 * What a client knows about an operation. `refused`: the answer says that nothing happened.
 * `unknown`: an answer is missing, or says that the outcome is unconfirmed.
 */
export type Outcome = 'done' | 'refused' | 'unknown';

/** An operation of a client, with all its attempts. Times are milliseconds since the epoch. */
export interface Entry {
  operation: string;
  /** The id of the member or moderator, or a guest's address. */
  actor: string;
  address: string;
  /** Key of its receipt in storage; null if the operation has no receipt. */
  key: string | null;
  /** The session or note that an operation without receipt affects. */
  subject: string | null;
  credential: string | null;
  invoked: number;
  answered: number;
  /** Number of attempts whose outcome is unknown. */
  lost: number;
  outcome: Outcome;
  status: number;
  /** Whether the answer says that something changed: only then is a receipt kept. */
  changed: boolean;
  /** Ids of the events that the answer names. */
  events: readonly string[];
}

/** A note that the guestbook showed to a reader. */
export interface Sighting {
  note: string;
  invoked: number;
  answered: number;
  /** Whether the read may have used the replica. */
  mayLag: boolean;
}

/** A read by a member of a case that it wrote a moment ago, with the versions of the two answers. */
export interface OwnRead {
  path: string;
  written: number;
  read: number;
}

/** A fault and its duration. `crash`: PostgreSQL may have lost commits that it had not flushed. */
export interface Fault {
  name: string;
  began: number;
  ended: number;
  crash: boolean;
}

/** What a reader of a member's feed received; `whole` if it read to the end. */
export interface ObservedFeed {
  member: string;
  events: { id: string; sequence: number }[];
  whole: boolean;
}

export type History = ReturnType<typeof createHistory>;

/** Records what all clients see, on one clock. */
export function createHistory(keep: (text: string) => void = () => undefined) {
  const entries: Entry[] = [];
  const sightings: Sighting[] = [];
  /** Notes whose author learned that they will not be public, and when. */
  const told: { note: string; answered: number }[] = [];
  const ownReads: OwnRead[] = [];
  const faults: Fault[] = [];
  const secrets = new Set<string>();
  /** The mark in each member's texts, except in notes, which may outlive the account. */
  const words = new Map<string, string>();
  /** The leases that answers named. */
  const leases = new Set<string>();
  /** Violations that clients noticed themselves. */
  const wrong: string[] = [];
  const now = () => performance.timeOrigin + performance.now();
  return { entries, sightings, told, ownReads, faults, secrets, words, leases, wrong, now, keep };
}

const PATIENCE_MS = 8000;

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Call = (request: Request) => Promise<Answer | undefined>;

/** Sends requests to one of several addresses; returns undefined if there was no answer. */
export function startCall(
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

/** Nothing happened, and the request can be retried. */
export const nothing = (answer: Answer | undefined): boolean =>
  answer?.status === 503 && ['storage_unavailable', 'overloaded'].includes(String(code(answer)));

/** The outcome is unknown. */
export const open = (answer: Answer | undefined): boolean =>
  answer === undefined ||
  answer.status === 408 ||
  answer.status === 500 ||
  (answer.status === 503 && code(answer) === 'outcome_unconfirmed');

export const done = (answer: Answer | undefined): answer is Answer =>
  answer !== undefined && answer.status < 300;
