import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseJson } from '../json-text.ts';
import { type AnyReply, type Content, isPublicRead, isRevalidated, type Route } from './route.ts';

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
    ...(strictTransport ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

/** Anonymous reads may be kept and revalidated, and read from any page; nothing else may. */
export function cachingHeaders(route: Route | undefined): Headers {
  return route && isPublicRead(route)
    ? { 'cache-control': route.cacheControl ?? REVALIDATE, 'access-control-allow-origin': '*' }
    : { 'cache-control': 'no-store' };
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

/** Writes an answer: ETag and 304 for anonymous reads, no body for HEAD. */
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
  if (reply.status === 200 && route && isRevalidated(route)) {
    all.etag ??= content.etag ?? strongEtag(content.bytes);
    const { 'if-none-match': tags, 'if-modified-since': since } = req.headers;
    if (tags === undefined ? isAsOf(since, all['last-modified']) : matches(tags, all.etag)) {
      delete all['content-type'];
      res.writeHead(304, all).end();
      return;
    }
  }
  all['content-length'] = String(Buffer.byteLength(content.bytes));
  res.writeHead(reply.status, all);
  res.end(req.method === 'HEAD' ? undefined : content.bytes);
}

/** Only for answers that say when they were modified. */
function isAsOf(since = '', modified = ''): boolean {
  return Date.parse(since) >= Date.parse(modified);
}

function matches(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
