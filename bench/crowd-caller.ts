import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One step of the crowd, as the benchmark asks for it. */
export interface Step {
  base: string;
  /** A moderator's bearer token. */
  token: string;
  seconds: number;
  /** Requests a second, at random moments, however late the answers are. */
  rate?: number;
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

interface Request {
  kind: Kind;
  /** Status of the wanted answer. */
  wanted: number;
  bytes(): string;
}

interface Answer {
  /** 0 without an answer. */
  status: number;
  refused: boolean;
  ms: number;
}

const get = (kind: Kind, base: string, path: string, headers = ''): Request => {
  const bytes = `GET ${path} HTTP/1.1\r\nhost: ${new URL(base).host}\r\n${headers}\r\n`;
  return { kind, wanted: 200, bytes: () => bytes };
};

/** A mixed crowd, as in 40 seconds of a busy day: each request with its share in percent. */
function mix({ base, token }: Step): readonly [share: number, request: Request][] {
  const page = 'accept: text/html\r\n';
  const authorization = `authorization: Bearer ${token}\r\n`;
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
  const head = `POST /api/guestbook HTTP/1.1\r\nhost: ${new URL(base).host}\r\norigin: ${base}\r\ncontent-type: application/json\r\n`;
  return {
    kind: 'write',
    wanted: 202,
    bytes: () => {
      const message = 'A note of the usual length, which says hello and what brought me here.';
      const body = JSON.stringify({ id: randomUUID(), name: 'Ada', message });
      return `${head}content-length: ${body.length}\r\n\r\n${body}`;
    },
  };
}

/**
 * Sends requests over connections that are kept, as a proxy does: each takes one that is free, or a
 * new one. Reads no more of an answer than its end needs, because a costly generator measures itself.
 */
function createSender(base: string) {
  const { hostname, port } = new URL(base);
  const free: Socket[] = [];
  const all = new Set<Socket>();

  function open(): Socket {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    all.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      all.delete(socket);
      const at = free.indexOf(socket);
      if (at >= 0) free.splice(at, 1);
    });
    return socket;
  }

  async function send({ bytes }: Request, due = performance.now()): Promise<Answer> {
    const socket = free.pop() ?? open();
    const { status, refused, keep } = await converse(socket, bytes(), due + LOST_MS);
    if (keep) free.push(socket);
    else socket.destroy();
    return { status, refused, ms: performance.now() - due };
  }

  const close = () => {
    for (const socket of all) socket.destroy();
  };
  return { send, close };
}

function converse(socket: Socket, bytes: string, until: number) {
  return new Promise<{ status: number; refused: boolean; keep: boolean }>((resolve) => {
    const lost = () => end(0, '', false);
    const late = setTimeout(lost, Math.max(1, until - performance.now()));
    let head: string | undefined;
    let left = 0;
    let text = '';
    function read(chunk: Buffer): void {
      if (head === undefined) {
        text += chunk.toString('latin1');
        const at = text.indexOf('\r\n\r\n');
        if (at < 0) return;
        head = text.slice(0, at).toLowerCase();
        left = lengthOf(head) - (text.length - at - 4);
      } else left -= chunk.length;
      if (left <= 0) end(Number(head.slice(9, 12)), head, !head.includes('\r\nconnection: close'));
    }
    function end(status: number, headers: string, keep: boolean): void {
      clearTimeout(late);
      socket.off('data', read);
      socket.off('close', lost);
      const refused = status === 503 && headers.includes('\r\nretry-after: ');
      resolve({ status, refused, keep });
    }
    socket.on('data', read);
    socket.on('close', lost);
    socket.write(bytes);
  });
}

function lengthOf(head: string): number {
  const [, length] = /\r\ncontent-length: (\d+)/.exec(head) ?? [];
  if (length === undefined) throw new Error(`no Content-Length in ${head}`);
  return Number(length);
}

/** Runs one step, waits for its answers, and then probes until the service has recovered. */
async function run(step: Step): Promise<Outcome> {
  const requests = mix(step).flatMap(([share, request]) => Array<Request>(share).fill(request));
  const any = () => requests[Math.floor(Math.random() * requests.length)] as Request;
  const { send, close } = createSender(step.base);
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
  if (step.rate === undefined) {
    const loop = async () => {
      while (performance.now() < end) await count(any());
    };
    for (let n = 0; n < (step.callers ?? 1); n++) pending.push(loop());
    await Promise.all(pending);
  } else {
    for (let due = started; due < end; ) {
      const now = performance.now();
      for (; due <= now && due < end; due += (-Math.log(1 - Math.random()) * 1000) / step.rate) {
        lags.push(now - due);
        pending.push(count(any(), due));
      }
      await sleep(1);
    }
  }
  const { user, system } = process.cpuUsage(used);
  const busy = (user + system) / 1000 / (performance.now() - started);
  const recovery =
    step.rate === undefined ? 0 : await recover(send, get('read', step.base, '/api/guestbook'));
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

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

process.on('message', (step: Step) => {
  void run(step).then((outcome) => process.send?.(outcome));
});
process.on('disconnect', () => process.exit());
