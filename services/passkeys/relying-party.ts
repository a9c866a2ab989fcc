import { isIP } from 'node:net';

/** What passkeys are bound to, as WebAuthn names it: the host, and the origin of the pages. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * The relying party of a base URL; undefined where browsers offer no passkeys: the host is an IP address, or
 * the page is neither https nor on localhost.
 */
export function relyingParty(baseUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(baseUrl);
  const isAddress = isIP(hostname.replace(/[[\]]/g, '')) !== 0;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isAddress || (protocol !== 'https:' && !isLocal)) return undefined;
  return { id: hostname, origin };
}
