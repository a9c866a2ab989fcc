import type { IncomingMessage } from 'node:http';
import { MODERATOR_COOKIE } from './principal.ts';
import { Problem } from './problems.ts';
import { isMutation, type Route } from './route.ts';

const SINGLE_HEADERS = [
  'host',
  'content-type',
  'content-length',
  'content-encoding',
  'idempotency-key',
] as const;

const MAX_HEADERS = 100;
const DEFAULT_BODY_LIMIT = 64 * 1024;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Check 2: a header that decides about security must not be sent twice, nor `Host` be missing. */
export function checkHeaders(req: IncomingMessage): void {
  if (req.rawHeaders.length / 2 > MAX_HEADERS)
    throw new Problem('headers_too_large', {}, { connection: 'close' });
  if (req.headers.host === undefined && req.httpVersion === '1.1')
    throw new Problem('invalid_request', { issues: [{ path: 'host', message: 'missing' }] });
  // Where no name stands twice there is nothing to look for.
  if (req.rawHeaders.length / 2 === Object.keys(req.headers).length) return;
  const headers = req.headersDistinct;
  for (const name of SINGLE_HEADERS)
    if ((headers[name]?.length ?? 0) > 1)
      throw new Problem('invalid_request', { issues: [{ path: name, message: 'sent twice' }] });
  if ((headers.origin?.length ?? 0) > 1) throw new Problem('origin_not_allowed');
  if ((headers['sec-fetch-site']?.length ?? 0) > 1) throw new Problem('fetch_site_not_allowed');
}

/** Check 3. A cookie must come from this service's own pages, or from a client that says so. */
export function checkOrigin(req: IncomingMessage, route: Route, baseUrl: string): void {
  if (!isMutation(route)) return;
  const { origin, 'sec-fetch-site': site } = req.headers;
  const cookie = route.origin === 'cookie' || provenByCookie(req, route);
  if (cookie ? origin !== baseUrl : origin !== undefined && origin !== baseUrl)
    throw new Problem('origin_not_allowed');
  if (site !== undefined && site !== 'same-origin') throw new Problem('fetch_site_not_allowed');
}

/** Moderators may come with a bearer or with a cookie, which a page of someone else's may ride on. */
function provenByCookie({ headers }: IncomingMessage, { access }: Route): boolean {
  return (
    typeof access === 'object' &&
    'roles' in access &&
    headers.authorization === undefined &&
    (headers.cookie ?? '').includes(MODERATOR_COOKIE)
  );
}

/** Check 4, before reading. */
export function checkMedia(req: IncomingMessage, route: Route): void {
  if (!route.body) return;
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type');
  const type = req.headers['content-type'] ?? '';
  if (!/^\s*application\/json\s*(;\s*charset\s*=\s*("utf-8"|utf-8)\s*)?;?\s*$/i.test(type))
    throw new Problem('unsupported_media_type');
  if (Number(req.headers['content-length'] ?? 0) > limitOf(route)) throw tooLarge(route);
}

export function limitOf(route: Route): number {
  return route.bodyLimit ?? DEFAULT_BODY_LIMIT;
}

function tooLarge(route: Route): Problem {
  return new Problem('body_too_large', { limit_bytes: limitOf(route) }, { connection: 'close' });
}

/** Check 4, while reading. */
export function readBody(req: IncomingMessage, route: Route): Promise<Buffer> {
  const limit = limitOf(route);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        req.removeAllListeners('data');
        req.pause();
        reject(tooLarge(route));
      } else chunks.push(chunk);
    });
    // Made only where it is needed: an error's stack is dear, and every request closes.
    const gone = () => reject(new Error('the caller has gone'));
    req.once('end', () => {
      req.off('close', gone);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    req.once('error', reject);
    req.once('close', gone);
  });
}

/** Check 7, the header. Answers the key in lowercase. */
export function idempotencyKey(req: IncomingMessage, route: Route): string | undefined {
  const key = req.headers['idempotency-key'];
  if (!route.idempotency || (key === undefined && route.idempotency === 'optional'))
    return undefined;
  if (typeof key !== 'string' || !UUID_V4.test(key)) throw new Problem('invalid_idempotency_key');
  return key.toLowerCase();
}

/** A repeated parameter is refused; an unknown one too, unless the route ignores it. */
export function readQuery(search: string, route: Route): Record<string, string> {
  const query: Record<string, string> = {};
  if (search === '') return query;
  const known = route.query?.shape ?? {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (!Object.hasOwn(known, name)) {
      if (route.unknownQuery === 'ignored') continue;
      throw new Problem('query_not_allowed', {
        issues: [{ path: name.slice(0, 100), message: 'unknown query parameter' }],
      });
    }
    if (Object.hasOwn(query, name))
      throw new Problem('invalid_request', { issues: [{ path: name, message: 'sent twice' }] });
    query[name] = value;
  }
  return query;
}
