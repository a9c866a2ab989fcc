import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import type { SpanContext } from '@opentelemetry/api';

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;
const REQUEST_ID = /^[\w.:-]{8,64}$/;

const current = new AsyncLocalStorage<string>();

/** Reads a `traceparent` (W3C Trace Context); undefined if it is not well formed. */
export function parseTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(String(text ?? '')) ?? [];
  return traceId && spanId
    ? { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
    : undefined;
}

/** Writes the `traceparent` of a span, in version 00. */
export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;

/**
 * The id by which the caller follows its request: that of a well-formed `traceparent`, or else of
 * `X-Request-Id`; undefined if there is neither.
 */
export function traceIdOf({ traceparent, 'x-request-id': id }: IncomingHttpHeaders) {
  const traceId = parseTraceparent(traceparent)?.traceId;
  if (traceId) return traceId;
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined;
}

/** Runs `work` on behalf of a trace, to which jobs that it enqueues belong as well. */
export const withTrace = <Result>(traceId: string, work: () => Result): Result =>
  current.run(traceId, work);

/** The trace of the request that is being answered. */
export const currentTrace = (): string | undefined => current.getStore();
