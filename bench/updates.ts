import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { POLICY_VERSION } from '../domain/publications/words.ts';
import { freePort } from '../harness/free-port.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import type { Bench, BenchEnvironment } from './environment.ts';
import { requests } from './load.ts';
import type { Comparison, Contender } from './pair.ts';
import { startServer } from './processes.ts';
import { seedLog } from './seed-log.ts';
import { serviceOn, startWeb } from './service.ts';

const CONNECTIONS = 32;
const PAGE = 100;
/** Bearers for rotation; each turn loses those of the requests in flight when it ends. */
const CHAINS = 1000;
const beside = (path: string) => join(import.meta.dirname, path);
const newKey = () => randomBytes(32).toString('hex');

interface Side {
  url: string;
  ours: string;
  floor: string;
  authorization: string;
  /** After the first page, and after the newest event. */
  cursor: string;
  end: string;
}

/** Compares the scoped API with a bare Express handler that runs one statement per request. */
export const updates: Bench = {
  name: 'updates',
  async prepare(setting) {
    const large = await start(setting, 1_000_000);
    const small = await start(setting, 10_000);
    const aside = (aim: number, name: string, contender: Contender) => ({ aim, name, contender });
    const free = await chains(small.ours);
    // As autovacuum does eventually: plans made for the empty tables would scan them.
    await analyze(small.url);
    const comparisons: Comparison[] = [
      {
        name: `GET /api/v1/updates, ${PAGE} of 1,000,000 events`,
        ours: page(large),
        floors: [
          aside(0.85, 'bare Express, the same indexed SELECT', floorPage(large)),
          aside(1 / 1.2, 'the same at 10,000 events', page(small)),
        ],
      },
      {
        name: 'GET /api/v1/updates, an empty page',
        ours: get(`${large.ours}/api/v1/updates?cursor=${large.end}`, large.authorization),
        floors: [aside(0.6, 'GET /api/v1/me', me(large))],
      },
      {
        name: 'GET /api/v1/me',
        ours: me(large),
        floors: [
          aside(0.85, 'bare Express, one primary-key SELECT', get(`${large.floor}/api/v1/me`)),
        ],
      },
      {
        name: 'POST /api/v1/me/credentials/rotate',
        ours: rotations(small.ours, free),
        floors: [aside(0.6, 'bare Express, one INSERT', inserts(small.floor))],
      },
      // The simplest scoped write; a rotation writes two events and a new secret.
      {
        name: 'POST /api/v1/me/profile',
        ours: profiles(small.ours, free),
        floors: [aside(0.6, 'bare Express, one INSERT', inserts(small.floor))],
      },
    ];
    return comparisons;
  },
};

const get = (url: string, authorization?: string) =>
  requests(url, CONNECTIONS, {
    method: 'GET',
    ...(authorization ? { headers: { authorization } } : {}),
  });

const me = ({ ours, authorization }: Side) => get(`${ours}/api/v1/me`, authorization);

export const page = ({ ours, authorization, cursor }: Side) =>
  get(`${ours}/api/v1/updates?limit=${PAGE}&cursor=${cursor}`, authorization);

const floorPage = ({ floor }: Side) => get(`${floor}/api/v1/updates?after=${PAGE}`);

export async function start(
  setting: BenchEnvironment,
  events: number,
  kind: 'migrated' | 'partitioned' = 'migrated',
): Promise<Side> {
  const url = await setting.database(kind);
  const service = await serviceOn(setting, url);
  const { base: ours } = service;
  await startWeb(setting, service);
  const { member, authorization } = await newAgent(ours);
  await seedLog(url, member, events);
  const floor = await startApiFloor(setting, url, member);
  const headers = { authorization };
  async function nextCursor(asked: string): Promise<string> {
    const answer = await fetch(`${ours}/api/v1/updates?${asked}`, { headers });
    return ((await answer.json()) as { next_cursor: string }).next_cursor;
  }
  const [cursor, end] = [await nextCursor(`limit=${PAGE}`), await nextCursor('start=now')];
  return { url, ours, floor, authorization, cursor, end };
}

/** Starts the bare Express server on a database, and returns its address. */
export async function startApiFloor(
  setting: BenchEnvironment,
  url: string,
  member = '',
): Promise<string> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const args = [beside('api-floor.ts'), port, url, member];
  await startServer(setting, args, { NODE_ENV: 'production' }, base, '/livez');
  return base;
}

const analyze = (url: string) => withConnection(url, (client) => client.query('VACUUM ANALYZE'));

const newCredential = () => ({
  credential_id: randomUUID() as string,
  credential_secret: newKey(),
  scopes: ['credential:manage', 'profile:write', 'updates:read'],
  expires_at: Math.floor(Date.now() / 1000) + 7200,
});

const bearer = ({ credential_id, credential_secret }: ReturnType<typeof newCredential>) =>
  `Bearer svc_${credential_id}.${credential_secret}`;

async function newAgent(base: string): Promise<{ member: string; authorization: string }> {
  const id = randomUUID();
  const sign_in_key = newKey();
  const handle = `m${randomBytes(8).toString('hex')}`;
  await post(`${base}/api/membership/register`, base, {
    id,
    handle,
    sign_in_key,
    recovery_key: newKey(),
  });
  const credential = newCredential();
  await post(`${base}/api/v1/credentials`, base, { member_id: id, sign_in_key, ...credential });
  return { member: id, authorization: bearer(credential) };
}

async function post(url: string, origin: string, body: object): Promise<void> {
  const headers = {
    origin,
    'content-type': 'application/json',
    'idempotency-key': randomUUID() as string,
  };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

/** Creates bearers for the rotations, each of which replaces a bearer with a new one. */
export async function chains(base: string): Promise<string[]> {
  const made: string[] = [];
  for (let count = 0; count < CHAINS; count += 20)
    made.push(
      ...(await Promise.all(
        Array.from({ length: 20 }, async () => (await newAgent(base)).authorization),
      )),
    );
  return made;
}

function rotations(base: string, free: string[]): Contender {
  return requests(`${base}/api/v1/me/credentials/rotate`, CONNECTIONS, {
    method: 'POST',
    setupRequest: (request, context) => {
      const authorization = free.shift();
      if (!authorization) throw new Error('no bearer is left');
      const next = newCredential();
      Object.assign(context, { next: bearer(next) });
      return {
        ...request,
        headers: {
          authorization,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify(next),
      };
    },
    onResponse: (status, body, context) => {
      if (status !== 201) throw new Error(body);
      free.push((context as { next: string }).next);
    },
  });
}

/** Publishes profiles; members take turns, so that no two requests of one member coincide. */
export function profiles(base: string, free: readonly string[]): Contender {
  const body = JSON.stringify({
    display_name: 'Ada',
    summary: 'Reads what others leave, and answers where there is something to say.',
    links: [],
    capabilities: ['reading'],
    visibility: 'public',
    publish_consent: true,
    policy_version: POLICY_VERSION,
  });
  let turn = 0;
  return requests(`${base}/api/v1/me/profile`, CONNECTIONS, {
    method: 'POST',
    setupRequest: (request) => ({
      ...request,
      headers: {
        authorization: free[turn++ % free.length] ?? '',
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body,
    }),
  });
}

function inserts(base: string): Contender {
  return requests(`${base}/api/v1/write`, CONNECTIONS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    setupRequest: (request) => ({ ...request, body: JSON.stringify(newCredential()) }),
  });
}
