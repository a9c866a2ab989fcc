import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIMEType } from 'node:util';
import { withLineFeeds } from '../visible-text.ts';
import type { Request } from './admission.ts';
import { Problem, withoutKeys } from './problems.ts';
import { isByAuthorization, isForModerators, isMutation, type Route } from './route.ts';
import { UUID_V4 } from './schemas.ts';

const SINGLE_HEADERS = [
  'host',
  'content-type',
  'content-length',
  'content-encoding',
  'idempotency-key',
] as const;

const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 8192;
const DEFAULT_BODY_LIMIT = 64 * 1024;

/** The caller disconnected, or was disconnected, before the whole request arrived. */
export class CallerGone extends Error {}

/**
 * Refuses more than 100 headers or 8192 bytes of headers. Counts bytes as on the wire, with
 * separators, because the limit of Node's parser includes the URL.
 */
export function checkHeaderSize({ rawHeaders }: IncomingMessage): void {
  let bytes = 2 * rawHeaders.length;
  for (const part of rawHeaders) bytes += part.length;
  if (rawHeaders.length / 2 > MAX_HEADERS || bytes > MAX_HEADER_BYTES)
    throw new Problem('headers_too_large', {}, { connection: 'close' });
}

/**
 * Refuses a missing `Host` and security headers that are sent twice. On reads, `Origin` is ignored
 * and `Authorization` matters only on authenticated routes; with `anonymous` it never matters.
 */
export function checkHeaders(req: IncomingMessage, route: Route, { anonymous = false } = {}): void {
  // Node's parser takes a request line without a version as HTTP/0.9, with headers and a body.
  if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0')
    throw new Problem('invalid_request', { issues: [{ path: '', message: 'not HTTP/1.1' }] });
  if (req.headers.host === undefined && req.httpVersion === '1.1')
    throw new Problem('invalid_request', { issues: [{ path: 'host', message: 'is required' }] });
  // No header is repeated.
  if (req.rawHeaders.length / 2 === Object.keys(req.headers).length) return;
  const headers = req.headersDistinct;
  for (const name of SINGLE_HEADERS)
    if ((headers[name]?.length ?? 0) > 1)
      throw new Problem('invalid_request', {
        issues: [{ path: name, message: 'must be sent once' }],
      });
  const counts = !anonymous && (isMutation(route) || isByAuthorization(route));
  if (counts && (headers.authorization?.length ?? 0) > 1)
    throw new Problem(isForModerators(route) ? 'moderator_required' : 'credential_not_accepted');
  if (!isMutation(route)) return;
  if ((headers.origin?.length ?? 0) > 1) throw new Problem('origin_not_allowed');
  if ((headers['sec-fetch-site']?.length ?? 0) > 1) throw new Problem('fetch_site_not_allowed');
}

/**
 * Refuses cross-origin mutations. With a cookie, `Origin` must be `baseUrl`; otherwise `Origin` may
 * be absent. `Sec-Fetch-Site`, if sent, must be `same-origin`. `moderatorCookie` is the name of the
 * cookie that proves a moderator.
 */
export function checkOrigin(
  req: IncomingMessage,
  route: Route,
  { baseUrl, moderatorCookie }: { baseUrl: string; moderatorCookie: string },
): void {
  if (!isMutation(route)) return;
  const { origin, 'sec-fetch-site': site } = req.headers;
  const cookie = route.origin === 'cookie' || provenByCookie(req, route, moderatorCookie);
  if (cookie && origin !== baseUrl)
    throw new Problem('origin_not_allowed', { expected_origin: baseUrl });
  if (origin !== undefined && origin !== baseUrl) throw new Problem('origin_not_allowed');
  if (site !== undefined && site !== 'same-origin') throw new Problem('fetch_site_not_allowed');
}

/**
 * Moderators may use a bearer or a cookie, and a browser attaches the cookie for any site's page.
 */
function provenByCookie({ headers }: IncomingMessage, route: Route, name: string): boolean {
  return (
    isForModerators(route) &&
    headers.authorization === undefined &&
    (headers.cookie ?? '').includes(name)
  );
}

/** Checks the media type, encoding and declared length of a body before it is read. */
export function checkMedia(req: IncomingMessage, route: Route): void {
  if (!route.body) return;
  const { headers } = req;
  const encoded = !isNoneBut('identity', headers['content-encoding']);
  const plain = !encoded && isNoneBut('chunked', headers['transfer-encoding']);
  const typed = isInUtf8(headers['content-type'], bodyType(route)) || isBodyAbsent(req, route);
  if (!plain || !typed)
    throw new Problem(
      'unsupported_media_type',
      route.form ? WRONG_FORM : {},
      encoded ? { 'accept-encoding': 'identity' } : {},
    );
  if (Number(headers['content-length'] ?? 0) > bodyLimit(route)) throw tooLarge(route);
}

const emptyBodies = new WeakMap<Route, boolean>();

/**
 * Whether a request without a body counts as one with an empty object: on routes of bearers and
 * moderators whose fields are all optional.
 */
export function takesEmptyBody(route: Route): boolean {
  const known = emptyBodies.get(route);
  if (known !== undefined) return known;
  const takes =
    isByAuthorization(route) &&
    !route.form &&
    !route.transport &&
    route.body?.safeParse({}).success === true;
  emptyBodies.set(route, takes);
  return takes;
}

const isBodyAbsent = ({ headers }: IncomingMessage, route: Route): boolean =>
  headers['content-type'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) === 0 &&
  takesEmptyBody(route);

const isNoneBut = (coding: string, header = coding): boolean =>
  header.trim().toLowerCase() === coding;

/** Longest accepted `Content-Type`; parsing one takes time quadratic in its length. */
const MAX_CONTENT_TYPE = 256;

const FORM_TYPE = 'application/x-www-form-urlencoded';
const WRONG_FORM = { message: `The body must be uncompressed ${FORM_TYPE} in UTF-8.` };

/** The media type of the body that a route takes. */
export const bodyType = ({ form }: Route): string => (form ? FORM_TYPE : 'application/json');

function isInUtf8(type = '', expected: string): boolean {
  if (type === expected) return true;
  if (type.length > MAX_CONTENT_TYPE) return false;
  try {
    const { essence, params } = new MIMEType(type);
    // `MIMEType` keeps the first of repeated parameters and drops one without a value, so count
    // them here.
    const charsets = type.match(/;\s*charset\s*=/gi)?.length ?? 0;
    const charset = params.get('charset') ?? (charsets === 0 ? 'utf-8' : '');
    return essence === expected && charsets < 2 && /^utf-8$/i.test(charset);
  } catch {
    return false;
  }
}

/** The body limit of a route in bytes, 64 KiB by default. */
export function bodyLimit(route: Route): number {
  return route.bodyLimit ?? DEFAULT_BODY_LIMIT;
}

/** A field for each of so many bytes is more than any operation takes. */
const BYTES_PER_VALUE = 80;

/**
 * The largest number of values in a body of a route. Each costs far more than a byte of text does, in
 * the parser and in the schema.
 */
export function valuesLimit(route: Route): number {
  return Math.max(200, Math.floor(bodyLimit(route) / BYTES_PER_VALUE));
}

function tooLarge(route: Route): Problem {
  return new Problem('body_too_large', { limit_bytes: bodyLimit(route) }, { connection: 'close' });
}

/**
 * Parses the body of an HTML form. Refuses a repeated field and what is not UTF-8. A line break of
 * any kind becomes a line feed.
 */
export function parseForm(body: Buffer, maxFields: number): Record<string, string> {
  if (!isFormInUtf8(body)) throw new Problem('unsupported_media_type', WRONG_FORM);
  const fields: Record<string, string> = {};
  const text = body.toString();
  if (text.split('&', maxFields + 1).length > maxFields)
    throw new Problem('invalid_request', {
      issues: [{ path: '', message: `must have at most ${maxFields} fields` }],
    });
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(fields, name)) {
      const issues = [{ path: withoutKeys(name).slice(0, 100), message: 'must be sent once' }];
      throw new Problem('invalid_request', { issues });
    }
    fields[name] = withLineFeeds(value);
  }
  return fields;
}

function isFormInUtf8(body: Buffer): boolean {
  try {
    decodeURIComponent(body.toString());
    return isUtf8(body);
  } catch {
    return false;
  }
}

const broken = new WeakMap<IncomingMessage, Problem>();

/** Marks a body as unreadable after a protocol error; `readBody` rejects with the problem. */
export function breakBody(req: IncomingMessage, problem: Problem): void {
  broken.set(req, problem);
  req.emit('broken', problem);
}

const continuing = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Asks for the body of a request with `Expect: 100-continue` when it is read, so that a caller who is refused before does not send it.
 * Whether the body follows a refusal is then unknown, so the connection ends with the response.
 */
export function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('connection', 'close');
  continuing.set(req, res);
}

/**
 * Reads the body. Rejects with `body_too_large` above the limit of the route, or above a lower
 * `limit`, with the problem of `breakBody`, and with `CallerGone` if the caller disconnects.
 */
export function readBody(req: Request, route: Route, limit = bodyLimit(route)): Promise<Buffer> {
  // Callers that send slowly would take all places from the others.
  req.place?.pause();
  continuing.get(req)?.writeContinue();
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
    // Created on demand: an error captures a stack, which is expensive, and every request closes.
    const gone = () => reject(new CallerGone());
    // The caller disconnected during authentication; no further event reports it.
    if (req.destroyed) gone();
    const problem = broken.get(req);
    if (problem) reject(problem);
    req.once('broken', reject);
    req.once('end', () => {
      req.off('close', gone);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    req.once('error', gone);
    req.once('close', gone);
  });
}

/**
 * Returns the `Idempotency-Key` in lowercase and without its double quotes, or undefined if the route takes none or an optional
 * key is absent. Throws `invalid_idempotency_key` if a required key is absent or a key is not a
 * UUIDv4.
 */
export function idempotencyKey(req: IncomingMessage, route: Route): string | undefined {
  const key = req.headers['idempotency-key'];
  if (!route.idempotency || (key === undefined && route.idempotency === 'optional'))
    return undefined;
  const bare = key?.toString().replace(/^"(.*)"$/, '$1') ?? '';
  if (!UUID_V4.test(bare)) throw new Problem('invalid_idempotency_key');
  return bare.toLowerCase();
}

/** Splits the URL into its path and its query, without the question mark. */
export function splitUrl({ url = '' }: IncomingMessage): [path: string, search: string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

/**
 * Parses the query. Refuses repeated parameters, and unknown ones unless the route ignores them.
 */
export function readQuery(search: string, route: Route): Record<string, string> {
  const query: Record<string, string> = {};
  if (search === '') return query;
  const known = route.query?.shape ?? {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (!Object.hasOwn(known, name)) {
      if (route.unknownQuery === 'ignored') continue;
      throw new Problem('query_not_allowed', {
        issues: [
          { path: withoutKeys(name).slice(0, 100), message: 'is not a known query parameter' },
        ],
      });
    }
    if (Object.hasOwn(query, name))
      throw new Problem('invalid_request', {
        issues: [{ path: name, message: 'must be sent once' }],
      });
    query[name] = value;
  }
  return query;
}
