import { type Client, createClient } from '../client.ts';
import type { CallOptions } from '../operation.ts';
import type { Scope } from '../schema.ts';
import { NoAnswerError, ProblemError, UnreadableReplyError } from '../send.ts';
import { type KeyStore, openKeyStore, type Registration } from './key-store.ts';
import { plainJson, plainText } from './terminal.ts';

/** Exit codes of `svc`; `--help` lists them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  noAnswer: 3,
  notAllowed: 4,
  notFound: 5,
  conflict: 6,
  leaseLost: 7,
} as const;

/** A mistake in the command line. */
export class UsageError extends Error {}

/** A failure with an exit code and a sentence for the caller. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Whether a request may have had its effect, so that the same one must be sent again. */
export const hasNoAnswer = (error: unknown): boolean =>
  error instanceof NoAnswerError || error instanceof UnreadableReplyError;

/** The exit code for an error that a command ended with. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof Failure) return error.exitCode;
  if (hasNoAnswer(error)) return EXIT.noAnswer;
  if (!(error instanceof ProblemError)) return EXIT.failed;
  if (error.status === 401 || error.status === 403) return EXIT.notAllowed;
  if (error.status === 404 || error.status === 410) return EXIT.notFound;
  return error.status === 409 ? EXIT.conflict : EXIT.failed;
}

/** Refusals after which the same request may still succeed, or may have had its effect before. */
const UNDECIDED = [401, 403, 408, 429];

/**
 * Whether an error is the service's last word on a write. An answer of something between, such as a redirect to a
 * page for signing in, says nothing about an attempt whose answer was lost.
 */
const isFinal = (error: unknown): boolean =>
  error instanceof ProblemError &&
  error.code !== 'unknown' &&
  error.status < 500 &&
  !UNDECIDED.includes(error.status);

const SCOPES: readonly Scope[] = [
  ...(['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit'] as const),
  ...(['case:review', 'case:note', 'updates:read', 'credential:manage'] as const),
  ...(['account:export', 'account:delete', 'report:create'] as const),
];

export interface Options {
  home: string;
  /** The address of the service, for a folder without keys. */
  at: string;
  json: boolean;
  /** Milliseconds for which one operation is retried. */
  patience: number;
  /** Milliseconds within which one attempt must be answered. */
  timeout: number;
}

export type Context = ReturnType<typeof createContext>;

/** What a command needs: the keys, a client for them, and the output. */
export function createContext({ home, at, json, patience, timeout }: Options) {
  const store: KeyStore = openKeyStore(home);
  let made: Client | undefined;
  let retried = false;

  function clientFor(registration: Registration): Client {
    const { base_url: baseUrl, ...identity } = registration;
    return createClient({
      baseUrl,
      identity,
      scopes: SCOPES,
      keeper: store.keeper,
      patience,
      timeout,
      onRetry({ message }, milliseconds) {
        retried = true;
        const seconds = Math.ceil(milliseconds / 1000);
        console.error(plainText(`${message.replace(/\.$/, '')}, retrying in ${seconds} s`));
      },
    });
  }

  function registration(): Registration {
    const known = store.registration();
    if (known?.registered) return known;
    const words = known ? `${known.handle} --at ${known.base_url}\` again` : 'HANDLE` first';
    throw new Failure(`Not registered: run \`svc register ${words}`, EXIT.notAllowed);
  }

  return {
    at,
    json,
    store,
    registration,
    /** A client of the registered member. */
    client(): Client {
      made ??= clientFor(registration());
      return made;
    },
    /** A client that reads what is public, also without keys. */
    reader(): Client {
      const known = store.registration();
      if (known?.registered) return this.client();
      const noMember = { id: '', handle: '', sign_in_key: '', recovery_key: '' };
      return clientFor({ ...noMember, base_url: known?.base_url ?? at });
    },
    clientFor,
    /** Whether a request had no answer, so that it may have had an effect. */
    wasRetried: () => retried,
    /** Prints an answer: as one line of JSON, or the text for people. */
    print(answer: unknown, text: string): void {
      process.stdout.write(`${json ? plainJson(answer) : plainText(text)}\n`);
    },
    /**
     * Sends a write that survives the end of the process: the same command line repeats the same request until
     * it has an answer.
     */
    write<Body, Answer>(
      command: readonly unknown[],
      body: () => Promise<Body>,
      send: (body: Body, options: CallOptions) => PromiseLike<Answer>,
    ): Promise<Answer> {
      registration();
      return store.once(
        command,
        body,
        async (pending) => send(pending.body as Body, { idempotencyKey: pending.key }),
        isFinal,
      );
    },
  };
}
