import type { IncomingMessage } from 'node:http';
import { localhostAllowedHostnames } from '@modelcontextprotocol/server';
import { isLoopback } from '../../../platform/base-url.ts';
import { Problem } from '../../../platform/http/problems.ts';

/** Only a name and a port: the URL parser would also accept a path or user info. */
const HOST = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d{1,5})?$/i;
const HTTP = 'http://';

/**
 * Protects against DNS rebinding, by which a foreign page reaches a local service through a foreign
 * host name. On loopback, Host and Origin may have any local name and port; otherwise both must be
 * the service's own.
 */
export function sourceCheck(baseUrl: string) {
  const own = new URL(baseUrl);
  const local = isLoopback(baseUrl);
  const names = [own.hostname, ...localhostAllowedHostnames()];

  const isHost = (host: string): boolean => {
    const url = HOST.test(host) ? URL.parse(`${own.protocol}//${host}`) : null;
    return url !== null && (local ? names.includes(url.hostname) : url.host === own.host);
  };
  const isOrigin = (origin: string): boolean =>
    origin === own.origin ||
    (local && origin.startsWith(HTTP) && isHost(origin.slice(HTTP.length)));

  return ({ headers: { host = '', origin = own.origin } }: IncomingMessage): void => {
    if (!isHost(host) || !isOrigin(origin))
      throw new Problem('origin_not_allowed', {
        message: 'Origin and Host must be those of this service.',
      });
  };
}
