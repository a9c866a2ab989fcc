import type { IncomingMessage } from 'node:http';
import { isReadableAnywhere, type Route } from './route.ts';

/** Headers that a page of another origin may read besides the few that browsers always show. */
const EXPOSED = [
  'Link',
  'ETag',
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Contract-Version',
].join(', ');

/** Headers that let a page of any origin read a response. */
export const READABLE_ANYWHERE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'cross-origin-resource-policy': 'cross-origin',
};

/** Reads that the specification keeps without preflights. */
const WITHOUT_PREFLIGHT = ['/api/v1/discovery', '/api/v1/status'];

/** Seconds for which a browser may remember the answer to a preflight. */
const MAX_AGE = 86_400;

/**
 * Returns the headers of the answer to a preflight request for an anonymous read of the API, which a
 * browser sends before a conditional request of another origin; undefined for anything else. `read`
 * is the GET route of the path.
 */
export function preflightHeaders(
  { method, headers }: IncomingMessage,
  read: Route | undefined,
): Record<string, string> | undefined {
  const asked = headers['access-control-request-method'] ?? '';
  const isPreflight =
    method === 'OPTIONS' && headers.origin !== undefined && ['GET', 'HEAD'].includes(asked);
  if (!isPreflight || !read || !isReadableAnywhere(read)) return undefined;
  const { path } = read;
  const isOffered =
    path.startsWith('/api/v1/') || path === '/api/guestbook' || path === '/mcp/server-card';
  if (!isOffered) return undefined;
  if (WITHOUT_PREFLIGHT.includes(path)) return undefined;
  return {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': 'If-None-Match',
    'access-control-max-age': String(MAX_AGE),
  };
}
