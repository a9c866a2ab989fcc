import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;
const REQUEST_ID = /^[\w.:-]{8,64}$/;
const NO_TRACE = '0'.repeat(32);

const current = new AsyncLocalStorage<string>();

/**
 * The id by which the caller follows its request: that of a well-formed `traceparent` (W3C Trace
 * Context), or else of `X-Request-Id`; undefined if there is neither.
 */
export function traceIdOf({ traceparent, 'x-request-id': id }: IncomingHttpHeaders) {
  const [, trace] = TRACEPARENT.exec(String(traceparent ?? '')) ?? [];
  if (trace && trace !== NO_TRACE) return trace;
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined;
}

/** Runs `work` on behalf of a trace, to which jobs that it enqueues belong as well. */
export const withTrace = <Result>(traceId: string, work: () => Result): Result =>
  current.run(traceId, work);

/** The trace of the request that is being answered. */
export const currentTrace = (): string | undefined => current.getStore();
