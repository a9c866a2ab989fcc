import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './pair.ts';
import { type Answer, createSender, getBytes, postBytes, type SentRequest } from './sender.ts';

/** One step of the crowd, as the benchmark asks for it. */
export interface Step {
  base: string;
  /** A moderator's bearer token. */
  token: string;
  seconds: number;
  /** Requests a second, at random moments, however late the answers are. */
  rate?: number;
  /** How many times as many the requests of strangers are, and those of moderators; 1 without it. */
  times?: { strangers: number; moderators: number };
  /** Without `rate`: so many callers, each with its next request after an answer. */
  callers?: number;
}

export type Kind = 'read' | 'list' | 'write' | 'moderator' | 'health';

/** What became of the requests of one kind. */
export interface Tally {
  sent: number;
  /** Answered as wanted within `GOOD_MS`. */
  good: number;
  /** 503 with `Retry-After`. */
  refused: number;
  /** Answered as wanted, but later than `GOOD_MS`. */
  late: number;
  /** Not answered within `LOST_MS`, or the connection broke. */
  lost: number;
  /** 95th percentile of the wanted answers, in milliseconds since the request was due. */
  p95: number;
}

export interface Outcome {
  tallies: Record<Kind, Tally>;
  /** Share of one processor that the generator used, and how late it sent, in milliseconds (p95). */
  busy: number;
  lag: number;
  /** Seconds after the last arrival until a read was good again, and all later ones. */
  recovery: number;
}

/** An answer counts as useful within this time; after `LOST_MS` a caller goes away. */
const GOOD_MS = 1000;
const LOST_MS = 5000;
const PROBE_MS = 50;
const CALM_MS = 200;

interface Request extends SentRequest {
  kind: Kind;
}

const get = (kind: Kind, base: string, path: string, headers = {}): Request => {
  const bytes = getBytes(base, path, headers);
  return { kind, wanted: 200, bytes: () => bytes };
};

/** A mixed crowd, as in 40 seconds of a busy day: each request with its share in percent. */
function mix({ base, token }: Step): readonly [share: number, request: Request][] {
  const page = { accept: 'text/html' };
  const authorization = { authorization: `Bearer ${token}` };
  return [
    [30, get('read', base, '/api/guestbook')],
    [15, get('read', base, '/', page)],
    [10, get('read', base, '/members', page)],
    [10, get('read', base, '/api/v1/status')],
    [5, get('read', base, '/api/v1/discovery')],
    [3, get('list', base, '/api/v1/activity')],
    [3, get('list', base, '/activity', page)],
    [2, get('list', base, '/api/v1/search?q=note')],
    [17, newNote(base)],
    [4, get('moderator', base, '/api/moderation/queue', authorization)],
    [1, get('health', base, '/readyz')],
  ];
}

function newNote(base: string): Request {
  const message = 'A note of the usual length, which says hello and what brought me here.';
  return {
    kind: 'write',
    wanted: 202,
    bytes: () => postBytes(base, '/api/guestbook', { id: randomUUID(), name: 'Ada', message }),
  };
}

/** Runs one step, waits for its answers, and then probes until the service has recovered. */
async function run(step: Step): Promise<Outcome> {
  const { strangers, moderators } = step.times ?? { strangers: 1, moderators: 1 };
  const requests = mix(step).flatMap(([share, request]) =>
    Array<Request>(share * (request.kind === 'moderator' ? moderators : strangers)).fill(request),
  );
  const rate = step.rate && (step.rate * requests.length) / 100;
  const any = () => requests[Math.floor(Math.random() * requests.length)] as Request;
  const { send, close } = createSender(step.base, LOST_MS);
  const tallies = newTallies();
  const times: Record<Kind, number[]> = {
    read: [],
    list: [],
    write: [],
    moderator: [],
    health: [],
  };
  const lags: number[] = [];
  async function count(request: Request, due?: number): Promise<void> {
    const { kind, wanted } = request;
    const tally = tallies[kind];
    tally.sent++;
    const { status, refused, ms } = await send(request, due);
    if (status === wanted) {
      times[kind].push(ms);
      if (ms <= GOOD_MS) tally.good++;
      else tally.late++;
    } else if (status === 0) tally.lost++;
    else if (refused) tally.refused++;
    else throw new Error(`${request.bytes()} was answered with ${status}`);
  }

  const started = performance.now();
  const used = process.cpuUsage();
  const end = started + step.seconds * 1000;
  const pending: Promise<void>[] = [];
  if (rate === undefined) {
    const loop = async () => {
      while (performance.now() < end) await count(any());
    };
    for (let n = 0; n < (step.callers ?? 1); n++) pending.push(loop());
    await Promise.all(pending);
  } else {
    for (let due = started; due < end; ) {
      const now = performance.now();
      for (; due <= now && due < end; due += (-Math.log(1 - Math.random()) * 1000) / rate) {
        lags.push(now - due);
        pending.push(count(any(), due));
      }
      await sleep(1);
    }
  }
  const { user, system } = process.cpuUsage(used);
  const busy = (user + system) / 1000 / (performance.now() - started);
  const recovery =
    rate === undefined ? 0 : await recover(send, get('read', step.base, '/api/guestbook'));
  await Promise.all(pending);
  close();
  for (const kind of Object.keys(times) as Kind[])
    tallies[kind].p95 = percentile(times[kind], 0.95);
  return { tallies, busy, lag: percentile(lags, 0.95), recovery };
}

/** Asks often until all probes of `CALM_MS` were good; returns when the first of them was sent. */
async function recover(
  send: (request: Request) => Promise<Answer>,
  probe: Request,
): Promise<number> {
  const ended = performance.now();
  let calmSince = ended;
  const probes: Promise<void>[] = [];
  for (;;) {
    const at = performance.now();
    if (at - calmSince > GOOD_MS + CALM_MS || at - ended > LOST_MS) break;
    const ask = async () => {
      const { status, ms } = await send(probe);
      if (status !== probe.wanted || ms > GOOD_MS) calmSince = Math.max(calmSince, at + PROBE_MS);
    };
    probes.push(ask());
    await sleep(PROBE_MS);
  }
  await Promise.all(probes);
  return (calmSince - ended) / 1000;
}

function newTallies(): Record<Kind, Tally> {
  const tally = () => ({ sent: 0, good: 0, refused: 0, late: 0, lost: 0, p95: 0 });
  return { read: tally(), list: tally(), write: tally(), moderator: tally(), health: tally() };
}

process.on('message', (step: Step) => {
  void run(step).then((outcome) => process.send?.(outcome));
});
process.on('disconnect', () => process.exit());
