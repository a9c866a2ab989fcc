import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { clientSettingsOrExit } from '../../platform/config.ts';
import { leave, printable } from './terminal.ts';

const PATIENCE_MS = 30_000;

/** The fields of a queue item that the commands read. */
export interface Item {
  id: string;
  state: string;
  text: string;
  author: { kind: string; name: string; approved: number; rejected: number };
  parent: { text: string } | null;
  age_seconds: number;
  version: number;
  screening?: { findings: { text: string }[] };
  claim: { moderator: { name: string }; mine: boolean } | null;
  allowed_actions: string[];
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the service; its contract defines the shape
  body: any;
}

export type Api = Awaited<ReturnType<typeof createApiClient>>;

/** A client of the moderation API at BASE_URL; asks for the token if none is configured. */
export async function createApiClient() {
  const { baseUrl, moderatorToken } = clientSettingsOrExit();
  const token = moderatorToken ?? (await askToken());

  async function send(method: string, path: string, body?: object): Promise<Response> {
    try {
      return await fetch(`${baseUrl}/api/moderation/${path}`, {
        method,
        redirect: 'error',
        headers: {
          authorization: `Bearer ${token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        // The audit is a stream of any duration; every other request has a timeout.
        ...(path.startsWith('audit') ? {} : { signal: AbortSignal.timeout(PATIENCE_MS) }),
      });
    } catch {
      return leave(`The service at ${baseUrl} does not answer.\n`);
    }
  }

  async function call(method: string, path: string, body?: object): Promise<Answer> {
    const response = await send(method, path, body);
    const answer = await response.json().catch(() => ({}));
    return { status: response.status, body: answer };
  }

  /** Like `call`, but exits the command if the service refuses. */
  async function need(method: string, path: string, body?: object): Promise<Answer['body']> {
    const answer = await call(method, path, body);
    return answer.status < 300 ? answer.body : leave(`${explain(answer)}\n`);
  }

  return { call, need, send };
}

/** Posts until no page is left; `bodyOf` gives the body for the page of a number, from 0. */
export async function postPages(
  api: Api,
  path: string,
  bodyOf: (index: number) => object,
): Promise<Answer['body'][]> {
  const pages: Answer['body'][] = [];
  for (;;) {
    const cursor = pages.at(-1)?.next_cursor;
    const place = cursor ? { cursor } : {};
    pages.push(await api.need('POST', path, { ...bodyOf(pages.length), ...place }));
    if (!pages.at(-1).next_cursor) return pages;
  }
}

/** Describes a refusal in one line. */
export function explain({ status, body }: Answer): string {
  const { code = `HTTP ${status}`, message = '', reason, ...more } = body?.error ?? {};
  const who = more.claimed_by?.name ?? more.decided_by?.name;
  const issues = (more.issues ?? []).map(
    (issue: { path: string; message: string }) => `${issue.path} ${issue.message}`,
  );
  const details = [
    reason,
    who && `by ${who}`,
    more.current_state && `now ${more.current_state}`,
    ...issues,
  ].filter(Boolean);
  return printable(`${code}: ${message}${details.length > 0 ? ` (${details.join(', ')})` : ''}`);
}

/** Reads the token from the terminal without echoing it. */
async function askToken(): Promise<string> {
  if (!process.stdin.isTTY) leave('Set MODERATOR_TOKEN to your token.\n');
  process.stderr.write('Token: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const line = createInterface({ input: process.stdin, output: silent, terminal: true });
  const token = await line.question('');
  line.close();
  process.stderr.write('\n');
  return token.trim();
}
