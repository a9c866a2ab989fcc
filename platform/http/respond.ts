import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseJson } from '../json.ts';
import { CONTRACT_VERSION } from '../version.ts';
import { compressBody, type Encoding, isCompressible, preferredEncoding } from './compression.ts';
import { READABLE_ANYWHERE } from './cors.ts';
import {
  type AnyReply,
  type Content,
  isNegotiated,
  isPublicRead,
  isReadableAnywhere,
  isRevalidated,
  type Route,
} from './route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const REVALIDATE = 'public, max-age=0, must-revalidate';

export type Headers = Record<string, string>;

/** The headers of every response. `strictTransport` adds HSTS for a year; `hidden` keeps search engines away. */
export function commonHeaders(
  requestId: string,
  strictTransport: boolean,
  hidden = false,
): Headers {
  return {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-contract-version': CONTRACT_VERSION,
    'cross-origin-resource-policy': 'same-origin',
    ...(strictTransport ? { 'strict-transport-security': 'max-age=31536000' } : {}),
    ...(hidden ? { 'x-robots-tag': 'noindex' } : {}),
  };
}

/**
 * Headers for caches and other origins: anonymous reads may be cached and revalidated, and a page
 * of any origin may read all of them but HTML pages.
 */
export function cachingHeaders(route: Route | undefined): Headers {
  if (!route || !isPublicRead(route)) return { 'cache-control': 'no-store' };
  return {
    'cache-control': route.cacheControl ?? REVALIDATE,
    ...(isReadableAnywhere(route) ? READABLE_ANYWHERE : {}),
  };
}

/** JSON content of a value. */
export function jsonContent(body: unknown): Content {
  return jsonText(JSON.stringify(body));
}

/** JSON content of text that is JSON already. */
export function jsonText(text: string): Content {
  return { type: JSON_TYPE, bytes: text };
}

/** Returns the JSON body of a reply, parsed if it is serialized already. */
export function responseBody({ body, content }: AnyReply): Record<string, unknown> {
  if (!content) return body as Record<string, unknown>;
  return parseJson(Buffer.from(content.bytes as Uint8Array).toString()) as Record<string, unknown>;
}

/** A strong ETag of the bytes: the first 27 characters (162 bits) of their SHA-256. */
export function strongEtag(bytes: Uint8Array | string): string {
  return `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
}

/** JSON content with its ETag, serialized once for all responses that share it. */
export function publicContent(body: unknown): Content {
  const bytes = Buffer.from(JSON.stringify(body));
  return { type: JSON_TYPE, bytes, etag: strongEtag(bytes) };
}

/**
 * Writes a response: compressed if the caller accepts it, with ETag and 304 for anonymous reads,
 * without a body for HEAD.
 */
export async function sendReply(
  req: IncomingMessage,
  res: ServerResponse,
  route: Route | undefined,
  reply: AnyReply,
  headers: Headers,
): Promise<void> {
  if (reply.stream) {
    res.writeHead(reply.status, { ...headers, ...reply.headers, 'content-type': reply.type ?? '' });
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    await pipeline(Readable.from(reply.stream), res);
    return;
  }
  const content = reply.content ?? jsonContent(reply.body);
  const type = content.type ? { 'content-type': content.type } : {};
  const all: Headers = { ...headers, ...type, ...reply.headers };
  const length = Buffer.byteLength(content.bytes);
  // Refusals are short, and the log reads their status before an encoding would be ready.
  const varies = reply.status < 400 && isCompressible(content.type, length);
  const encoding = varies ? preferredEncoding(req.headers['accept-encoding']) : undefined;
  const dependsOn = [
    ...(route && isNegotiated(route) ? ['accept'] : []),
    ...(varies ? ['accept-encoding'] : []),
  ];
  if (dependsOn.length > 0) all.vary = dependsOn.join(', ');
  if (reply.status === 200 && route && isRevalidated(route)) {
    const etag = content.etag ?? strongEtag(content.bytes);
    all.etag = encodedEtag(etag, encoding);
    const { 'if-none-match': tags, 'if-modified-since': since } = req.headers;
    const known = tags === undefined ? undefined : matchingTag(tags, etag, all.etag);
    if (known || (tags === undefined && isNotModifiedSince(since, all['last-modified']))) {
      delete all['content-type'];
      res.writeHead(304, { ...all, ...(known ? { etag: known } : {}) }).end();
      return;
    }
  }
  let { bytes } = content;
  if (encoding) {
    bytes = await compressBody(content, encoding);
    all['content-encoding'] = encoding;
  }
  all['content-length'] = String(encoding ? bytes.length : length);
  res.writeHead(reply.status, all);
  res.end(req.method === 'HEAD' ? undefined : bytes);
}

/** Whether `since` is at or after `modified`; false if either is absent. */
export function isNotModifiedSince(since = '', modified = ''): boolean {
  return Date.parse(since) >= Date.parse(modified);
}

/** A strong ETag identifies exact bytes, so each encoding of the same content has its own. */
const encodedEtag = (etag: string, encoding: Encoding | undefined): string =>
  encoding ? `${etag.slice(0, -1)}-${encoding}"` : etag;

/**
 * Returns the ETag in `If-None-Match` that names this content in any encoding: a cache finds its
 * stored response by the ETag of the 304. `*` matches the ETag that would be sent now.
 */
export function matchingTag(header: string, etag: string, current: string): string | undefined {
  if (header.trim() === '*') return current;
  const forms = [current, etag, encodedEtag(etag, 'br'), encodedEtag(etag, 'gzip')];
  const sent = new Set(header.split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return forms.find((form) => sent.has(form));
}
