import { lookup } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../base-url.ts';

const CALL_MS = 5000;
const ANSWER_BYTES = 1024;

/** Addresses that no public receiver has, by RFC 6890 and its registry. */
const SPECIAL = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  SPECIAL.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  SPECIAL.addSubnet(net, bits, 'ipv6');

/** Why a call failed: a word without anything of the address, its query or the answer. */
export class CallFailed extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** Whether an IP address is private, link-local, loopback or otherwise not public. */
export const isSpecialAddress = (address: string): boolean =>
  SPECIAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

export interface Call {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Hosts that may have a special address; loopback hosts may have a loopback address. */
  privateHosts: readonly string[];
}

/** What an address has answered. */
export interface Answer {
  status: number;
  type: string;
  /** The beginning of the body. */
  body: Buffer;
}

/**
 * Posts to an address that an operator configured. Resolves once it is accepted (2xx), and throws
 * `CallFailed` otherwise, also for a redirect. At most 1 KiB of the answer is read.
 */
export async function postToReceiver(call: Call, callMs = CALL_MS): Promise<void> {
  const { status } = await postForAnswer(call, ANSWER_BYTES, callMs);
  if (status < 200 || status > 299) throw new CallFailed(`status_${status}`);
}

/**
 * Posts to an address that an operator configured, and resolves to its answer, of which at most `maxBytes` are read.
 * Throws `CallFailed` after 5 seconds in all, or for a host whose address is not public. The name is resolved once and
 * the connection goes to that address, so that a second answer of the name server changes nothing.
 */
export async function postForAnswer(
  call: Call,
  maxBytes: number,
  callMs = CALL_MS,
): Promise<Answer> {
  const signal = AbortSignal.timeout(callMs);
  const timedOut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new CallFailed('timeout')), { once: true });
  });
  // Without this, a timeout after the end of the call would be an unhandled rejection.
  timedOut.catch(() => undefined);
  return Promise.race([send(call, maxBytes, signal), timedOut]);
}

async function send(call: Call, maxBytes: number, signal: AbortSignal): Promise<Answer> {
  const host = call.url.hostname.replace(/^\[|\]$/g, '');
  const { address } = await lookup(host).catch(() => {
    throw new CallFailed('name_not_found');
  });
  if (isSpecialAddress(address) && !mayBeSpecial(call, host, address))
    throw new CallFailed('private_address');
  return await new Promise<Answer>((resolve, reject) => {
    const begin = call.url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = begin(
      {
        host: address,
        port: call.url.port,
        path: `${call.url.pathname}${call.url.search}`,
        method: 'POST',
        // The name for the certificate, which Node checks; also where its check is turned off by the environment.
        ...(isIP(host) ? {} : { servername: host }),
        rejectUnauthorized: true,
        agent: false,
        signal,
        headers: {
          ...call.headers,
          host: call.url.host,
          'content-length': String(Buffer.byteLength(call.body)),
          connection: 'close',
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        let read = 0;
        const finish = () => {
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            body: Buffer.concat(parts).subarray(0, maxBytes),
          });
          request.destroy();
        };
        response.on('data', (part: Buffer) => {
          parts.push(part);
          read += part.length;
          if (read >= maxBytes) finish();
        });
        response.on('end', finish);
        response.on('error', finish);
      },
    );
    request.on('error', ({ name, code }: NodeJS.ErrnoException) =>
      reject(
        new CallFailed(name === 'AbortError' ? 'timeout' : (code ?? 'connection').toLowerCase()),
      ),
    );
    request.end(call.body);
  });
}

/** An operator names a loopback host by writing it into the address. */
function mayBeSpecial({ url, privateHosts }: Call, host: string, address: string): boolean {
  const isHere = isLoopback(url.href) && (address === '::1' || address.startsWith('127.'));
  return isHere || privateHosts.includes(host.toLowerCase());
}
