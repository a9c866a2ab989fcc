import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A fault that strikes once, in the first transaction whose bytes contain `marker`. */
interface Fault {
  drop: 'reply' | 'answer' | 'commit' | 'rest' | 'all';
  marker: string;
}

type Side = 'client' | 'server';

type Ending = { teardown(end: () => Promise<void>): unknown };

const COMMIT_TAG = Buffer.from('C\0\0\0\x0bCOMMIT\0');
/** ReadyForQuery outside a transaction, the end of each response. */
const READY_TAG = Buffer.from('Z\0\0\0\x05I');
/** The name of the prepared COMMIT statement. */
const COMMIT = Buffer.from('COMMIT\0');
const PARSE = 'P'.charCodeAt(0);
const HELD_OPEN_MS = 5000;

/** Starts a fault-injecting proxy on loopback in front of the PostgreSQL server of `first`. */
export async function wireProxy(t: Ending, first: string) {
  let target = first;
  const sockets = new Set<Socket>();
  const pairs = new Set<() => void>();
  const timers = new Set<NodeJS.Timeout>();
  let waiting: Array<() => void> | undefined;
  const halves = new Set<(side: Side) => void>();
  let fault: Fault | undefined;
  let fired = 0;
  let latency = 0;
  let silent = false;

  /** Delivers now or, while bytes are held, on `release`. */
  const deliver = (send: () => void) => {
    if (waiting) waiting.push(send);
    else send();
  };

  /** One direction of one connection; delayed bytes keep their order. */
  const lane = () => {
    let last: Promise<unknown> | undefined;
    return (send: () => void) => {
      if (latency === 0 && !last) return deliver(send);
      const mine = Promise.all([last, sleep(latency)]).then(() => {
        if (last === mine) last = undefined;
        deliver(send);
      });
      last = mine;
    };
  };

  const server = createServer((client) => {
    const upstream = connectTo(target);
    let sent = Buffer.alloc(0);
    let answered = Buffer.alloc(0);
    let gone = false;
    let armed: 'reply' | 'answer' | 'rest' | undefined;
    const destroy = () => {
      client.destroy();
      upstream.destroy();
    };
    const halfClose = (side: Side) => {
      gone = true;
      (side === 'client' ? client : upstream).end();
      const timer = setTimeout(destroy, HELD_OPEN_MS);
      timers.add(timer);
    };
    pairs.add(destroy);
    halves.add(halfClose);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        if (gone && socket === client) return;
        pairs.delete(destroy);
        halves.delete(halfClose);
        destroy();
      });
    }

    const toServer = (bytes: Buffer) => {
      if (gone) return;
      sent = Buffer.concat([sent, bytes]);
      const marked = fault ? sent.indexOf(fault.marker) : -1;
      const commit = marked < 0 || fault?.drop === 'answer' ? marked : sent.indexOf(COMMIT, marked);
      if (!fault || commit < 0) {
        // Bytes before the marker belong to finished transactions; the tail may hold its beginning.
        if (marked < 0) sent = sent.subarray(-64);
        upstream.write(bytes);
        return;
      }
      const { drop } = fault;
      fault = undefined;
      if (drop === 'reply' || drop === 'answer' || drop === 'rest') {
        armed = drop;
        answered = Buffer.alloc(0);
        upstream.write(bytes);
        return;
      }
      fired += 1;
      if (drop === 'all') {
        waiting ??= [];
        upstream.write(bytes);
        return;
      }
      gone = true;
      // The name follows `P` and a length, or `B`, a length and the portal. An earlier chunk may
      // have carried these bytes.
      const head = sent[commit - 5] === PARSE ? 5 : 6;
      const start = Math.max(0, commit - head - (sent.length - bytes.length));
      upstream.write(bytes.subarray(0, start));
      client.destroy();
      const timer = setTimeout(destroy, HELD_OPEN_MS);
      timers.add(timer);
    };

    const toClient = (bytes: Buffer) => {
      if (gone) return;
      if (armed) {
        answered = Buffer.concat([answered, bytes]);
        if (answered.includes(armed === 'answer' ? READY_TAG : COMMIT_TAG)) {
          fired += 1;
          if (armed === 'rest' || silent) waiting ??= [];
          if (armed !== 'rest') return destroy();
          armed = undefined;
        }
      }
      client.write(bytes);
    };

    const [there, back] = [lane(), lane()];
    client.on('data', (bytes: Buffer) => there(() => toServer(bytes)));
    upstream.on('data', (bytes: Buffer) => back(() => toClient(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  t.teardown(async () => {
    for (const timer of timers) clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  return {
    url: proxied(target, (server.address() as AddressInfo).port),
    /** Holds all bytes in both directions, on existing and new connections, until `release`. */
    hold() {
      waiting ??= [];
    },
    release() {
      const held = waiting ?? [];
      waiting = undefined;
      for (const send of held) send();
    },
    /** Closes every connection; new connections are accepted. */
    cut() {
      for (const destroy of pairs) destroy();
    },
    /** New connections go to the server of `url`; open ones stay where they are. */
    aim(url: string) {
      target = url;
    },
    /** Closes every connection; new connections go to the server of `url`. */
    redirect(url: string) {
      target = url;
      for (const destroy of pairs) destroy();
    },
    /** Delays all bytes by `ms` milliseconds in both directions; 0 ends the delay. */
    delay(ms: number) {
      latency = ms;
    },
    /** Closes one side of every connection; the other stays open for 5 s, without traffic. */
    halfClose(side: Side) {
      for (const close of halves) close(side);
    },
    /**
     * The server commits, but both sides lose the connection before the client receives the reply.
     * With `andHold`, all bytes are held from then on.
     */
    dropCommitReply(marker: string, andHold = false) {
      silent = andHold;
      fault = { drop: 'reply', marker };
    },
    /** Like `dropCommitReply`, for a message that is a whole transaction without COMMIT. */
    dropAnswer(marker: string) {
      fault = { drop: 'answer', marker };
    },
    /** Passes the reply to COMMIT to the client, then holds all bytes until `release`. */
    holdAfterCommit(marker: string) {
      fault = { drop: 'rest', marker };
    },
    /** Passes COMMIT to the server, then holds all bytes until `release`. */
    holdAtCommit(marker: string) {
      fault = { drop: 'all', marker };
    },
    /** Closes the client's connection; the server keeps its side for 5 s and never gets COMMIT. */
    dropCommit(marker: string) {
      fault = { drop: 'commit', marker };
    },
    /** The number of faults that have struck. */
    fired: () => fired,
  };
}

function connectTo(target: string): Socket {
  const { hostname, port, searchParams } = new URL(target);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const number = Number(searchParams.get('port') ?? (port || 5432));
  return host.startsWith('/')
    ? connect(`${host}/.s.PGSQL.${number}`)
    : connect(number, host.replace(/^\[|\]$/g, '') || 'localhost');
}

function proxied(target: string, port: number): string {
  const url = new URL(target.replace(/@\//, '@localhost/').replace(/:\/\/\//, '://localhost/'));
  url.searchParams.delete('host');
  url.searchParams.delete('port');
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}
