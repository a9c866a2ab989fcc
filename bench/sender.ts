import { connect, type Socket } from 'node:net';

export interface SentRequest {
  /** Status of the wanted answer. */
  wanted: number;
  bytes(): string;
  /** Whether the answer's `text` is read. */
  reads?: boolean;
}

export interface Answer {
  /** 0 without an answer. */
  status: number;
  /** Whether the service asked to try again later. */
  refused: boolean;
  ms: number;
  /** Headers and body, if the request reads them. */
  text: string;
}

type Headers = Readonly<Record<string, string>>;

export const getBytes = (base: string, path: string, headers: Headers = {}) =>
  `GET ${path} HTTP/1.1\r\nhost: ${new URL(base).host}\r\n${lines(headers)}\r\n`;

/** A POST of JSON from the origin of `base`; the body must be ASCII. */
export function postBytes(base: string, path: string, body: object, headers: Headers = {}): string {
  const json = JSON.stringify(body);
  const all = {
    host: new URL(base).host,
    origin: base,
    'content-type': 'application/json',
    ...headers,
    'content-length': String(json.length),
  };
  return `POST ${path} HTTP/1.1\r\n${lines(all)}\r\n${json}`;
}

const lines = (headers: Headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

/**
 * Sends requests over connections that are kept, as a proxy does: each takes one that is free, or a
 * new one. Reads no more of an answer than its end needs, because a costly generator measures itself.
 */
export function createSender(base: string, lostMs: number) {
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

  async function send(request: SentRequest, due = performance.now()): Promise<Answer> {
    const socket = free.pop() ?? open();
    const { keep, ...answer } = await converse(socket, request, due + lostMs);
    if (keep) free.push(socket);
    else socket.destroy();
    return { ...answer, ms: performance.now() - due };
  }

  const close = () => {
    for (const socket of all) socket.destroy();
  };
  return { send, close };
}

/** The end of a body without a length. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

function converse(socket: Socket, { bytes, reads = false }: SentRequest, until: number) {
  return new Promise<Omit<Answer, 'ms'> & { keep: boolean }>((resolve) => {
    const lost = () => end(0, '', false);
    const late = setTimeout(lost, Math.max(1, until - performance.now()));
    let head: string | undefined;
    /** Bytes that are still to come, or undefined if the body has no length. */
    let left: number | undefined = 0;
    let text = '';
    function read(chunk: Buffer): void {
      if (head === undefined) {
        text += chunk.toString('latin1');
        const at = text.indexOf('\r\n\r\n');
        if (at < 0) return;
        head = text.slice(0, at).toLowerCase();
        left = lengthOf(head);
        if (left !== undefined) left -= text.length - at - 4;
      } else {
        if (left !== undefined) left -= chunk.length;
        if (reads) text += chunk.toString('latin1');
        else if (left === undefined)
          text = (text + chunk.toString('latin1')).slice(-LAST_CHUNK.length);
      }
      if (left === undefined ? text.endsWith(LAST_CHUNK) : left <= 0)
        end(Number(head.slice(9, 12)), head, !head.includes('\r\nconnection: close'));
    }
    function end(status: number, headers: string, keep: boolean): void {
      clearTimeout(late);
      socket.off('data', read);
      socket.off('close', lost);
      const refused = status === 503 && headers.includes('\r\nretry-after: ');
      resolve({ status, refused, text: reads ? text : '', keep });
    }
    socket.on('data', read);
    socket.on('close', lost);
    socket.write(bytes());
  });
}

/** The length of the body, or undefined if it comes in chunks. */
function lengthOf(head: string): number | undefined {
  const [, length] = /\r\ncontent-length: (\d+)/.exec(head) ?? [];
  return length === undefined ? undefined : Number(length);
}
