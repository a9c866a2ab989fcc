import type { IncomingMessage } from 'node:http';
import { type Span, SpanKind } from '@opentelemetry/api';
import { failSpan, type SpanDescription } from '../telemetry/spans.ts';
import { parseTraceparent } from '../telemetry/trace.ts';
import type { Operation } from './invoke.ts';

/** The path in log and metrics of a request that no route has. */
const UNKNOWN_PATH = '-';
/** Other methods are as many as callers think of. */
const METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'CONNECT',
  'TRACE',
]);

/**
 * The span of a request, which continues the caller's `traceparent`. It follows the conventions for HTTP servers, but has
 * neither URL nor address, because both identify people.
 * Probes have no span. `path` is a path template.
 */
export function requestSpan(
  { method = '', headers }: IncomingMessage,
  path: string,
  secure: boolean,
  operation: Operation | undefined,
): SpanDescription | undefined {
  if (operation?.route.tag === 'operations') return undefined;
  const isKnown = METHODS.has(method);
  const name = isKnown ? method : 'HTTP';
  const route = path === UNKNOWN_PATH ? undefined : path;
  const cause = parseTraceparent(headers.traceparent);
  return {
    name: route ? `${name} ${route}` : name,
    kind: SpanKind.SERVER,
    causes: cause ? [cause] : [],
    attributes: {
      'http.request.method': isKnown ? method : '_OTHER',
      'url.scheme': secure ? 'https' : 'http',
      ...(route ? { 'http.route': route } : {}),
    },
  };
}

/** Records the answer: `id` is that of the request, and `code` the error code of a problem. */
export function endRequestSpan(span: Span, id: string, status: number, code?: string): void {
  span.setAttributes({
    'http.response.status_code': status,
    'http.response.header.x-request-id': [id],
  });
  if (status >= 500) failSpan(span, code ?? String(status));
}
