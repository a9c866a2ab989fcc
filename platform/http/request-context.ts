import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressBucket } from './address.ts';
import type { RequestFacts } from './route.ts';

/** What a handler may know of a request besides its input. */
export function factsOf(
  req: IncomingMessage,
  res: ServerResponse,
  trustedProxies: number,
  id: string,
  key: string | undefined,
): RequestFacts {
  const forwarded = req.headers['x-forwarded-for'];
  const lastEventId = req.headers['last-event-id'];
  return {
    id,
    address: addressBucket(
      req.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      trustedProxies,
    ),
    cookie: req.headers.cookie,
    authorization: req.headers.authorization,
    ifNoneMatch: req.headers['if-none-match'],
    lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
    accept: req.headers.accept,
    idempotencyKey: key,
    // No getter: an object literal with one has a hidden class of its own, in which V8 keeps the
    // closure, and by it the request and its answer, until it next collects all of the heap.
    gone() {
      const controller = new AbortController();
      if (res.closed) controller.abort();
      else res.once('close', () => controller.abort());
      return controller.signal;
    },
  };
}
