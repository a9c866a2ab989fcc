import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';

const IPV4 = '127.0.0.1';
const IPV6 = '::1';
const ANSWER_MS = 2_000;

/** A fault, and what to set so that it is gone. */
interface Elsewhere {
  text: string;
  setting: string;
}

/**
 * Why `localhost` in the address of a service that listens on 127.0.0.1 leads elsewhere on this machine: browsers and clients
 * try ::1 as well, many of them first. Undefined if it leads to the service.
 */
export async function whyElsewhere(
  baseUrl: string,
  host: string,
  addressesOf = addresses,
): Promise<Elsewhere | undefined> {
  const { hostname, port } = new URL(baseUrl);
  if (!hostname.endsWith('localhost') || host !== IPV4) return undefined;
  if (!(await addressesOf(hostname)).includes(IPV4))
    return { text: `${hostname} is not ${IPV4} on this machine`, setting: `HOST=${IPV6}` };
  if (await answers(IPV6, Number(port || 80)))
    return {
      text: `another program answers at [${IPV6}]:${port}, where browsers may look for ${hostname}`,
      setting: 'another PORT',
    };
  return undefined;
}

/** Empty if the name is not known; `curl` and browsers know `localhost` without a server for names. */
const addresses = (name: string): Promise<string[]> =>
  lookup(name, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [IPV4],
  );

function answers(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: ANSWER_MS });
  socket.once('connect', () => resolve(true));
  for (const event of ['error', 'timeout']) socket.once(event, () => resolve(false));
  return promise.finally(() => socket.destroy());
}
