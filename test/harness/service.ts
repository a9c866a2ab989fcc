import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { openApp, openCore } from '../../services/app.ts';
import { readConfig } from '../../services/config.ts';
import { openApiDocument } from '../../services/http/openapi.ts';
import { openServer } from '../../services/http/server.ts';
import { parseJson } from '../../services/json-text.ts';
import { testDatabase } from './database.ts';
import { documentation } from './documented.ts';
import { assertRebuilt } from './rebuilt.ts';

type Ending = Parameters<typeof testDatabase>[0];

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered
  body: any;
}

export type Service = Awaited<ReturnType<typeof startService>>;

// One for the whole file: the document depends on the route table alone.
let check: ReturnType<typeof documentation>;

/**
 * The whole API in this process, on a database of its own, answering on a free loopback port. Every
 * answer is held against the OpenAPI document, and when the test ends, every read model must equal what the log makes of it.
 */
export async function startService(t: Ending, settings: Record<string, string> = {}) {
  const database = await testDatabase(t);
  const server = openServer((req, res) => void app(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = readConfig({
    DATABASE_URL: database.url,
    BASE_URL: baseUrl,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    LIMIT_KEY_ATTEMPTS: '1000',
    LIMIT_REGISTRATIONS_PER_DAY: '1000',
    LIMIT_NOTES_PER_TEN_MINUTES: '1000',
    LIMIT_NOTES_PER_DAY: '1000',
    ...settings,
  });
  const logged: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  const core = await openCore(config, 'service test');
  const { app, features, stop } = openApp(core, logger);
  check ??= documentation(openApiDocument(features, 'http://localhost'));
  t.teardown(async () => {
    stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await core.close();
    if (!tampered) await assertRebuilt(database);
  });

  let tampered = false;

  /** Changes a read model behind the log's back, for what time alone would bring. */
  async function tamper(statement: string, values: unknown[] = []): Promise<void> {
    tampered = true;
    await database.pool.query(statement, values);
  }

  async function call(
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string>; cookie?: string | undefined } = {},
  ): Promise<Answer> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(method === 'GET' || method === 'HEAD' ? {} : { origin: baseUrl }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.cookie ? { cookie: options.cookie } : {}),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
    });
    const text = await response.text();
    check({ method, path, status: response.status, headers: response.headers, text });
    const json = response.headers.get('content-type')?.startsWith('application/json') && text;
    return {
      status: response.status,
      headers: response.headers,
      text,
      // biome-ignore lint/suspicious/noExplicitAny: tests read any field of it
      body: (json ? parseJson(text) : undefined) as any,
    };
  }

  return { call, tamper, features, baseUrl, database, core, logger, logged };
}

export const newKey = () => randomBytes(32).toString('hex');

let count = 0;

export function newRegistration() {
  count += 1;
  return {
    id: randomUUID() as string,
    // No handle is part of another one, so that a search finds one and no other.
    handle: `member_${count}_${randomBytes(4).toString('hex')}`,
    sign_in_key: newKey(),
    recovery_key: newKey(),
  };
}

/** The `name=value` of the cookie that an answer sets. */
export function cookieOf(answer: Answer): string {
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** A new member with a session. */
export async function signedIn(service: Service) {
  const registration = newRegistration();
  await service.call('POST', '/api/membership/register', { body: registration });
  const { id, sign_in_key } = registration;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  return { ...registration, cookie: cookieOf(login) };
}
