import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens, once, to the first transaction whose bytes hold `marker`. */
interface Fault {
  drop: 'reply' | 'answer' | 'commit' | 'rest' | 'all';
  marker: string;
}

type Side = 'client' | 'server';

type Ending = { teardown(end: () => Promise<void>): unknown };

const COMMIT_TAG = Buffer.from('C\0\0\0\x0bCOMMIT\0');
/** What ends each answer, outside a transaction. */
const READY_TAG = Buffer.from('Z\0\0\0\x05I');
/** The name of the prepared statement. */
const COMMIT = Buffer.from('COMMIT\0');
const PARSE = 'P'.charCodeAt(0);
const HELD_OPEN_MS = 5000;

/** A proxy on loopback in front of the PostgreSQL of `target`, which can be told to fail. */
export async function wireProxy(t: Ending, target: string) {
  const sockets = new Set<Socket>();
  const pairs = new Set<() => void>();
  const timers = new Set<NodeJS.Timeout>();
  let waiting: Array<() => void> | undefined;
  const halves = new Set<(side: Side) => void>();
  let fault: Fault | undefined;
  let fired = 0;
  let latency = 0;
  let silent = false;

  /** Now, or once the silence is over. */
  const deliver = (send: () => void) => {
    if (waiting) waiting.push(send);
    else send();
  };

  /** One direction of one connection: what is delayed stays in its order. */
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
        // What was sent before a mark belongs to transactions that ended.
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
      // Before its name come `P` and a length, or `B`, a length and the portal. They may have left
      // with the bytes before.
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
    /** From now on no byte passes, in either direction, on old connections or new ones. */
    hold() {
      waiting ??= [];
    },
    release() {
      const held = waiting ?? [];
      waiting = undefined;
      for (const send of held) send();
    },
    /** Ends every connection. New ones are served. */
    cut() {
      for (const destroy of pairs) destroy();
    },
    /** From now on every byte is as late as that, in both directions; 0: none is. */
    delay(ms: number) {
      latency = ms;
    },
    /** Ends one side of every connection; the other stays open for a while, and nothing passes. */
    halfClose(side: Side) {
      for (const close of halves) close(side);
    },
    /**
     * The server commits, and both sides lose the connection before the client learns of it. With
     * `andHold` no byte passes from then on.
     */
    dropCommitReply(marker: string, andHold = false) {
      silent = andHold;
      fault = { drop: 'reply', marker };
    },
    /** The same for a message that is a transaction of its own, without COMMIT. */
    dropAnswer(marker: string) {
      fault = { drop: 'answer', marker };
    },
    /** The client learns that its COMMIT was done, and from then on no byte passes, until `release`. */
    holdAfterCommit(marker: string) {
      fault = { drop: 'rest', marker };
    },
    /** The server gets COMMIT, and from then on no byte passes, until `release`. */
    holdAtCommit(marker: string) {
      fault = { drop: 'all', marker };
    },
    /** The client loses its connection, the server keeps it for a while and never sees COMMIT. */
    dropCommit(marker: string) {
      fault = { drop: 'commit', marker };
    },
    /** How many COMMITs were tampered with. */
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
