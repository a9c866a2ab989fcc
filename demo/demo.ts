import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCookie } from '../harness/api.ts';
import { startInstance } from '../harness/instance.ts';
import { NO_TOOLS } from '../harness/tools.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { createApiClient, type DemoApi, each } from './api.ts';
import { realTexts, type Text } from './texts.ts';

const USAGE = `Usage:
  npm run demo [-- --mails N] [--stay]

Fills a fresh instance with real texts (the Big List of Naughty Strings and, after npm run tools, N mails,
3000 by default) through the public API, waits for their screening, decides a sample, and reads everything back. --stay leaves the
service running. PORT is the port to listen on (a free one by default). The instance is a sandbox: it says that it is
for tests, and is emptied each day at the time at which it started. DATA_DIR keeps the data in a folder that has none
yet, for a later SANDBOX=true npm start (by default they are removed at the end).
`;

const { values: options } = processArguments(
  USAGE,
  { mails: { type: 'string', default: '3000' }, stay: { type: 'boolean', default: false } },
  [0, 0],
  ({ values: { mails } }) => {
    if (!/^\d+$/.test(mails)) throw new ArgumentError('--mails must be a whole number.');
  },
);

const LANES = 8;
const EXPERIENCES = ['service', 'observatory', 'two-clerks'] as const;

const faults: string[] = [];
const expect = (holds: boolean, fault: string) => {
  if (!holds) faults.push(fault);
};
const say = (line: string) => console.log(line);

interface Author {
  cookie: string;
  handle: string;
}

async function signUp(api: DemoApi, handle: string): Promise<Author> {
  const key = () => randomBytes(32).toString('hex');
  const [id, sign_in_key] = [randomUUID(), key()];
  await api.call('POST', '/api/membership/register', {
    id,
    handle,
    sign_in_key,
    recovery_key: key(),
  });
  const login = await api.call('POST', '/api/membership/login', { id, sign_in_key });
  return { cookie: readCookie(login), handle };
}

async function submitAll(api: DemoApi, texts: readonly Text[], members: readonly Author[]) {
  const experienceOf = new Map<string, string>();
  await each([...texts.entries()], LANES, async ([index, { id, message, fits }]) => {
    const experience = EXPERIENCES[index % EXPERIENCES.length] ?? 'service';
    const member = index % 4 === 0 ? members[(index / 4) % members.length] : undefined;
    const answer = await api.call(
      'POST',
      '/api/guestbook',
      {
        id,
        message,
        experience,
        ...(member ? { attribution: 'member', member_handle: member.handle } : {}),
      },
      member ? { cookie: member.cookie } : {},
    );
    experienceOf.set(id, experience);
    // 200 answers the repetition of a note whose first answer was lost.
    const wanted = fits ? [202, 200] : [400];
    expect(wanted.includes(answer.status), `${answer.status} for ${JSON.stringify(message)}`);
  });
  return experienceOf;
}

/** Reads the whole moderation queue, page by page. */
async function readQueue(api: DemoApi, authorization: string) {
  const items = new Map<string, { text: string; version: number; screening?: { state: string } }>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const search = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const page = await api.call('GET', `/api/moderation/queue?limit=100${search}`, undefined, {
      authorization,
    });
    for (const item of page.body.items) items.set(item.id, item);
    cursor = page.body.next_cursor;
  }
  return items;
}

async function screened(api: DemoApi, authorization: string) {
  for (let waited = 0; waited < 300; waited += 1) {
    const items = await readQueue(api, authorization);
    const left = [...items.values()].filter((item) => item.screening?.state !== 'done').length;
    if (left === 0) return items;
    await sleep(1000);
  }
  throw new Error('the worker did not screen everything within five minutes');
}

async function readBack(api: DemoApi, experience: string) {
  const entries = new Map<string, string>();
  for (let path: string | undefined = `/api/guestbook?experience=${experience}`; path; ) {
    const page: Awaited<ReturnType<DemoApi['call']>> = await api.call('GET', path);
    for (const entry of page.body.entries) entries.set(entry.id, entry.message);
    path = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return entries;
}

/** Starts the service with PORT and DATA_DIR from the environment; exits if that fails. */
async function startFresh() {
  const { PORT: port, DATA_DIR: dataDir } = process.env;
  try {
    if (dataDir && existsSync(join(dataDir, 'postgres')))
      throw new Error(`DATA_DIR ${dataDir} already holds data. The demo needs an empty folder.`);
    return await startInstance({
      port: port || undefined,
      dataDir: dataDir || undefined,
      // A minute that has just passed comes again in a day.
      settings: { SANDBOX: 'true', SANDBOX_EMPTIED_AT: new Date().toISOString().slice(11, 16) },
    });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
const instance = await startFresh();
const base = instance.baseUrl;
try {
  const api = createApiClient(base);
  say(`${seconds()}  the service runs on ${base}`);
  const texts = realTexts(Number(options.mails));
  const members = [];
  for (let i = 0; i < 10; i++) members.push(await signUp(api, `reader_${i}`));

  const experienceOf = await submitAll(api, texts, members);
  const accepted = texts.filter(({ fits }) => fits);
  if (!texts.some(({ kind }) => kind === 'spam')) say(`without mails: ${NO_TOOLS}`);
  say(`${seconds()}  ${texts.length} texts sent, ${accepted.length} of them fit for a note`);

  const token = await instance.moderator('demo', 'moderator');
  const authorization = `Bearer ${token}`;
  const queue = await screened(api, authorization);
  expect(queue.size === accepted.length, `the queue holds ${queue.size} of ${accepted.length}`);
  for (const { id, message } of accepted)
    expect(queue.get(id)?.text === message, `the queue shows another text for ${id}`);
  say(`${seconds()}  the worker screened ${queue.size} notes; each text in the queue is as sent`);

  const approved = accepted.filter(({ kind }, index) => kind !== 'spam' && index % 4 === 0);
  const rejected = accepted.filter(({ kind }, index) => kind === 'spam' && index % 4 === 0);
  const decide = (list: readonly Text[], body: object) =>
    each(list, LANES, async ({ id }) => {
      const expected_version = queue.get(id)?.version;
      const answer = await api.call(
        'POST',
        `/api/moderation/notes/${id}/decisions`,
        { ...body, expected_version },
        { authorization },
      );
      expect(answer.status === 201, `${answer.status} for a decision on ${id}`);
    });
  await decide(approved, { action: 'approve' });
  await decide(rejected, { action: 'reject', policy: 'spam' });
  say(`${seconds()}  ${approved.length} approved, ${rejected.length} rejected`);

  let read = 0;
  for (const experience of EXPERIENCES) {
    const entries = await readBack(api, experience);
    const wanted = approved.filter(({ id }) => experienceOf.get(id) === experience);
    expect(entries.size === wanted.length, `${experience}: ${entries.size} notes are public`);
    for (const { id, message } of wanted)
      expect(entries.get(id) === message, `${id} reads back as another text`);
    read += entries.size;
  }
  say(`${seconds()}  ${read} public notes read back through the guestbook's pages, to the byte`);

  const counts = [...api.counts].sort(([a], [b]) => a - b);
  say(`answers: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`);
  expect(!counts.some(([status]) => status >= 500), 'the service answered 5xx');
  for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
  say(faults.length === 0 ? 'No fault.' : `${faults.length} faults.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
  if (options.stay) {
    say(`Look at it: ${base}, moderator token ${token}; Ctrl-C ends it.`);
    await instance.ended;
  }
} finally {
  await instance.stop();
}
