import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseJson } from '../json.ts';
import { type Encoding, encode, isCompressible, preferredEncoding } from './compression.ts';
import {
  type AnyReply,
  type Content,
  isPublicRead,
  isReadableAnywhere,
  isRevalidated,
  type Route,
} from './route.ts';

export const CONTRACT_VERSION = 'service-api-2026-09-12';

const JSON_TYPE = 'application/json; charset=utf-8';
const REVALIDATE = 'public, max-age=0, must-revalidate';

export type Headers = Record<string, string>;

/** The headers of every answer. */
export function commonHeaders(requestId: string, strictTransport: boolean): Headers {
  return {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-contract-version': CONTRACT_VERSION,
    'cross-origin-resource-policy': 'same-origin',
    ...(strictTransport ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

/** Anonymous reads may be kept and revalidated, and all but pages may be read from any page. */
export function cachingHeaders(route: Route | undefined): Headers {
  if (!route || !isPublicRead(route)) return { 'cache-control': 'no-store' };
  return {
    'cache-control': route.cacheControl ?? REVALIDATE,
    ...(isReadableAnywhere(route)
      ? { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
      : {}),
  };
}

export function jsonContent(body: unknown): Content {
  return jsonText(JSON.stringify(body));
}

/** JSON that is written already. */
export function jsonText(text: string): Content {
  return { type: JSON_TYPE, bytes: text };
}

/** What an answer of JSON says, written already or not. */
export function bodyOf({ body, content }: AnyReply): Record<string, unknown> {
  if (!content) return body as Record<string, unknown>;
  return parseJson(Buffer.from(content.bytes as Uint8Array).toString()) as Record<string, unknown>;
}

export function strongEtag(bytes: Uint8Array | string): string {
  return `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
}

/** JSON with its ETag, made once for all who share it. */
export function publicContent(body: unknown): Content {
  const bytes = Buffer.from(JSON.stringify(body));
  return { type: JSON_TYPE, bytes, etag: strongEtag(bytes) };
}

/** Writes an answer: compressed where the caller asks; ETag and 304 for anonymous reads; no body for HEAD. */
export async function send(
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
  // The log takes the status of a refusal before an encoding would be ready; refusals are short.
  const varies = reply.status < 400 && isCompressible(content.type, length);
  const encoding = varies ? preferredEncoding(req.headers['accept-encoding']) : undefined;
  if (varies) all.vary = 'accept-encoding';
  if (reply.status === 200 && route && isRevalidated(route)) {
    const etag = content.etag ?? strongEtag(content.bytes);
    all.etag = encodedEtag(etag, encoding);
    const { 'if-none-match': tags, 'if-modified-since': since } = req.headers;
    const known = tags === undefined ? undefined : matchingTag(tags, etag, all.etag);
    if (known || (tags === undefined && isAsOf(since, all['last-modified']))) {
      delete all['content-type'];
      res.writeHead(304, { ...all, ...(known ? { etag: known } : {}) }).end();
      return;
    }
  }
  let { bytes } = content;
  if (encoding) {
    bytes = await encode(content, encoding);
    all['content-encoding'] = encoding;
  }
  all['content-length'] = String(encoding ? bytes.length : length);
  res.writeHead(reply.status, all);
  res.end(req.method === 'HEAD' ? undefined : bytes);
}

/** Only for answers that say when they were modified. */
export function isAsOf(since = '', modified = ''): boolean {
  return Date.parse(since) >= Date.parse(modified);
}

/** An ETag is strong: each encoding of the same content has its own. */
const encodedEtag = (etag: string, encoding: Encoding | undefined): string =>
  encoding ? `${etag.slice(0, -1)}-${encoding}"` : etag;

/**
 * The ETag that the caller has of this content, in any encoding: a cache looks for the answer that it
 * holds by the ETag of the 304. `*` stands for the one that would be sent now.
 */
export function matchingTag(header: string, etag: string, current: string): string | undefined {
  if (header.trim() === '*') return current;
  const forms = [current, etag, encodedEtag(etag, 'br'), encodedEtag(etag, 'gzip')];
  const sent = new Set(header.split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return forms.find((form) => sent.has(form));
}
