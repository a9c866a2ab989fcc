import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

type Ending = { teardown(end: () => Promise<void>): unknown };

/** What happens to the response to the next request whose bytes contain `marker`. */
interface Fault {
  marker: string;
  /** The response ends after so many bytes, and the connection with it. */
  after?: number;
  /** The response never comes; called when it would. */
  stalls?: () => void;
  /** The response comes after this. */
  meanwhile?: () => Promise<unknown>;
  /** This comes instead, and the service never gets the request. */
  answer?: string;
  /** Receives the length of each part of the response. */
  measure?: (bytes: number) => void;
}

/** A later response may be shorter than the measured one, by the digits of what is left of a limit. */
const SPARE_BYTES = 8;

/**
 * Every byte of the first 40 and of the last 40 of a response, and one of 11 between them, by which
 * each line of its head is cut.
 */
const places = (length: number): number[] =>
  Array.from({ length: length - SPARE_BYTES }, (_, at) => at).filter(
    (at) => at < 40 || at >= length - 40 || at % 11 === 0,
  );

/**
 * Starts a TCP proxy in front of an HTTP service that can spoil the response to one request. The service may
 * start later than the proxy, so that its BASE_URL can be the address of the proxy.
 */
export async function startFaultProxy(t: Ending, target: () => string) {
  const sockets = new Set<Socket>();
  let next: Fault | undefined;
  let dropped = 0;

  const server = createServer((client) => {
    const { hostname, port } = new URL(target());
    const upstream = connect(Number(port), hostname);
    let fault: Fault | undefined;
    let passed = 0;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (next !== undefined && bytes.includes(next.marker)) {
        fault = next;
        passed = 0;
        next = undefined;
      }
      if (fault?.answer !== undefined) client.end(fault.answer);
      else upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (fault?.stalls) {
        fault.stalls();
        return;
      }
      if (fault?.meanwhile) {
        const { meanwhile } = fault;
        fault = undefined;
        upstream.pause();
        void meanwhile().then(() => {
          client.write(bytes);
          upstream.resume();
        });
        return;
      }
      fault?.measure?.(bytes.length);
      if (fault?.after === undefined) {
        client.write(bytes);
        return;
      }
      const rest = fault.after - passed;
      passed += bytes.length;
      if (bytes.length <= rest) {
        client.write(bytes);
        return;
      }
      dropped += 1;
      fault = { marker: '', stalls: () => undefined };
      if (rest <= 0 && passed === bytes.length) client.destroy();
      else client.end(bytes.subarray(0, rest));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Drops the response to the next request whose bytes contain `text`. */
    dropResponseTo(text: string) {
      next = { marker: text, after: 0 };
    },
    /** Cuts the response to the next request whose bytes contain `text` after so many bytes. */
    cutResponseTo(text: string, after: number) {
      next = { marker: text, after };
    },
    /**
     * Keeps the response to the next request whose bytes contain `text`, and resolves when the service
     * has sent it.
     */
    stallResponseTo: (text: string) =>
      new Promise<void>((stalls) => {
        next = { marker: text, stalls };
      }),
    /**
     * Does something after the service has answered the next request whose bytes contain `text`, and before the
     * client has the response.
     */
    beforeResponseTo(text: string, meanwhile: () => Promise<unknown>) {
      next = { marker: text, meanwhile };
    },
    /** Answers the next request whose bytes contain `text` instead of the service. */
    answerTo(text: string, answer: string) {
      next = { marker: text, answer };
    },
    /** The places at which to cut the response to a request, which `send` sends once to be measured. */
    async lengthOf(text: string, send: () => Promise<void>): Promise<number[]> {
      let length = 0;
      const measure = (bytes: number) => {
        length += bytes;
      };
      next = { marker: text, measure };
      await send();
      return places(length);
    },
    droppedCount: () => dropped,
    /** Whether a fault still waits for its request. */
    isArmed: () => next !== undefined,
  };
}
