import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '../domain/permissions.ts';
import { type Agent, newAgent, newCredential, toAuthorization } from '../harness/agent.ts';
import { type ApiResponse, createApi } from '../harness/api.ts';
import { consent, createCaseCommands } from '../harness/cases.ts';
import { patient } from '../harness/patient.ts';
import type { BenchEnvironment } from './environment.ts';
import { publishNotes } from './guestbook.ts';
import { loops, times } from './load.ts';
import type { Contender } from './pair.ts';
import { createSender, getBytes, postBytes } from './sender.ts';

/** At least the widest load, so that no two requests are on one member or case. */
const MEMBERS = 64;
/** Profiles that fill the feed of the member who reads updates, so that a page of 100 is full. */
const EVENTS = 130;
/** Pending notes for each second of decisions; a web process decides on fewer. */
const NOTES_PER_SECOND = 2000;
/** Leases that a moderator may hold. */
const MAX_LEASES = 10;
/** Requests at the same time while a service is filled. */
const WIDTH = 16;
const LOST_MS = 60_000;
const RETRY_MS = 20;
const SCOPES: readonly Scope[] = [
  'case:claim',
  'case:create',
  'credential:manage',
  'profile:write',
  'updates:read',
];
const MESSAGE = 'A note of the usual length, which says hello and what brought its author here.';
const PROFILE = {
  display_name: 'Ada',
  summary: 'Reads what others leave, and answers where there is something to say.',
  links: [],
  capabilities: ['reading'],
  ...consent,
};

export type MainRequests = Awaited<ReturnType<typeof openMainRequests>>;

/** A load of `width` connections. */
type Load = (width: number) => Contender;

/**
 * Fills a web process over HTTP, which every build understands, and returns loads of its main requests. `tokens` are of
 * moderators.
 */
export async function openMainRequests(
  { onEnd }: Pick<BenchEnvironment, 'onEnd'>,
  base: string,
  tokens: readonly string[],
) {
  const { ask, post, get } = createCaller({ onEnd }, base);
  await publishNotes(base, tokens[0] ?? '');
  const agents: Agent[] = [];
  const api = patient(createApi(base));
  await times(WIDTH, MEMBERS, async () => agents.push(await newAgent(api, SCOPES)));
  const [reader] = agents as [Agent];
  for (let n = 0; n < EVENTS; n++)
    await succeed(reader.call('POST', '/api/v1/me/profile', PROFILE));
  const page = await succeed(reader.call('GET', '/api/v1/updates?limit=100'));
  const now = await succeed(reader.call('GET', '/api/v1/updates?start=now'));
  const cases = await openCases(agents);
  const { entries } = (await succeed(api.call('GET', '/api/guestbook'))).body;
  const updates = (cursor: string) =>
    get(`/api/v1/updates?limit=100${cursor}`, { authorization: reader.authorization });

  const writers = agents.slice(1);
  const profile = inTurn(writers, ({ authorization }) =>
    post('/api/v1/me/profile', authorization, PROFILE),
  );
  const rotate = inTurn(writers, async (writer) => {
    const next = newCredential(SCOPES);
    await post('/api/v1/me/credentials/rotate', writer.authorization, next, 201);
    writer.authorization = toAuthorization(next);
  });
  const claimOrRelease = inTurn(cases, async (one) => {
    const path = `/api/v1/cases/${one.id}/${one.isClaimed ? 'release' : 'claim'}`;
    await post(path, one.claimer.authorization, { expected_version: one.version });
    one.isClaimed = !one.isClaimed;
    one.version++;
  });

  const pending: string[] = [];
  async function submit(): Promise<void> {
    const id = randomUUID();
    await ask(202, postBytes(base, '/api/guestbook', { id, name: 'Ada', message: MESSAGE }));
    pending.push(id);
  }
  const submitFor = (seconds: number) =>
    times(WIDTH, Math.ceil(seconds * NOTES_PER_SECOND) - pending.length, submit);

  const desks = tokens.map((token) => `Bearer ${token}`);
  const decide = inTurn(desks, async (authorization) => {
    const id = pending.shift();
    if (id === undefined) throw new Error('more decisions than notes');
    const body = { action: 'approve', expected_version: 1 };
    await post(`/api/moderation/notes/${id}/decisions`, authorization, body, 201);
  });
  const claims = claimLoad(post, tokens);

  return {
    home: get('/', { accept: 'text/html' }),
    brotli: get('/', { accept: 'text/html', 'accept-encoding': 'br' }),
    note: get(`/notes/${entries[0].id}`, { accept: 'text/html' }),
    case: get(`/cases/${cases[0]?.id}`, { accept: 'text/html' }),
    feed: get('/guestbook/service.atom'),
    guestbook: get('/api/guestbook'),
    me: get('/api/v1/me', { authorization: reader.authorization }),
    updates: updates(`&cursor=${page.body.next_cursor}`),
    noUpdates: updates(`&cursor=${now.body.next_cursor}`),
    submit: (width: number) => loops(width, submit),
    profile: (width: number) => loops(width, profile),
    rotate: (width: number) => loops(width, rotate),
    claimOrRelease: (width: number) => loops(width, claimOrRelease),
    decide: (width: number) => ({ ...loops(width, decide), prepare: submitFor }),
    claimNext: (width: number) => ({ ...claims.load(width), prepare: submitFor }),
  };
}

export type ClaimLoad = ReturnType<typeof claimLoad>;

/**
 * A load of moderators who claim the next note, and release their claims when they hold as many as they may, with how
 * long each claim took.
 */
export function claimLoad(post: Caller['post'], tokens: readonly string[]) {
  const desks = tokens.map((token) => ({ authorization: `Bearer ${token}`, held: [] as string[] }));
  const milliseconds: number[] = [];
  const claimNext = inTurn(desks, async ({ authorization, held }) => {
    const asked = performance.now();
    const text = await post('/api/moderation/claims', authorization, { count: 1 }, 200, true);
    milliseconds.push(performance.now() - asked);
    const [, lease] = /"lease_id":"([^"]+)"/.exec(text) ?? [];
    if (lease === undefined) throw new Error(`nothing was claimed: ${text}`);
    if (held.push(lease) === MAX_LEASES)
      await post('/api/moderation/claims/release', authorization, { lease_ids: held.splice(0) });
  });
  return { load: (width: number) => loops(width, claimNext), milliseconds };
}

type Caller = ReturnType<typeof createCaller>;

/** Sends requests to a web process until each has the wanted answer. */
export function createCaller({ onEnd }: Pick<BenchEnvironment, 'onEnd'>, base: string) {
  const { send, close } = createSender(base, LOST_MS);
  onEnd(close);

  /** Repeats a request that is refused for a moment, as a client does: with the same key. */
  async function ask(wanted: number, bytes: string, reads = false): Promise<string> {
    for (let isRepeated = false; ; isRepeated = true) {
      const { status, refused, text } = await send({ wanted, bytes: () => bytes, reads });
      // What a refused request had done after all is answered with 200.
      if (status === wanted || (isRepeated && status === 200)) return text;
      if (!refused) throw new Error(`${bytes.slice(0, bytes.indexOf('\r'))}: ${status}`);
      await sleep(RETRY_MS);
    }
  }

  const post = (path: string, authorization: string, body: object, wanted = 200, reads = false) => {
    const headers = { authorization, 'idempotency-key': randomUUID() };
    return ask(wanted, postBytes(base, path, body, headers), reads);
  };

  const get = (path: string, headers: Record<string, string> = {}): Load => {
    const bytes = getBytes(base, path, headers);
    return (width) => loops(width, () => ask(200, bytes));
  };

  return { ask, post, get };
}

/** Each case is opened by one member and claimed by the next. */
async function openCases(agents: readonly Agent[]) {
  const cases: { id: string; version: number; isClaimed: boolean; claimer: Agent }[] = [];
  let next = 0;
  await times(WIDTH, agents.length, async () => {
    const [author, claimer] = [agents[next++], agents[next % agents.length]] as [Agent, Agent];
    const { body } = await succeed(createCaseCommands(author).open());
    cases.push({ id: body.case.id, version: body.case.version, isClaimed: false, claimer });
  });
  return cases;
}

async function succeed(answer: Promise<ApiResponse>): Promise<ApiResponse> {
  const { status, text, ...rest } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return { status, text, ...rest };
}

/** Takes the one of `free` that waited longest for each call, so that no two calls share one. */
const inTurn =
  <T>(free: T[], act: (one: T) => Promise<unknown>) =>
  async (): Promise<void> => {
    const one = free.shift();
    if (one === undefined) throw new Error('fewer than connections');
    await act(one);
    free.push(one);
  };
