import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressBucket } from './address.ts';
import type { Request } from './admission.ts';
import type { RequestContext } from './route.ts';

/** The caller's address bucket, by the proxies that are trusted. */
export function callerAddress(req: IncomingMessage, trustedProxies: number): string {
  const forwarded = req.headers['x-forwarded-for'];
  return addressBucket(
    req.socket.remoteAddress,
    Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
    trustedProxies,
  );
}

/** Collects what a handler may know of a request besides its input. */
export function toRequestContext(
  req: Request,
  res: ServerResponse,
  trustedProxies: number,
  id: string,
  key: string | undefined,
): RequestContext {
  const lastEventId = req.headers['last-event-id'];
  return {
    id,
    address: callerAddress(req, trustedProxies),
    cookie: req.headers.cookie,
    authorization: req.headers.authorization,
    ifNoneMatch: req.headers['if-none-match'],
    lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
    accept: req.headers.accept,
    idempotencyKey: key,
    // A method, not a getter: an object literal with a getter has its own hidden class, in which V8
    // keeps the closure, and so the request and its response, until the next full garbage
    // collection.
    gone() {
      // Only requests that wait for something ask; a waiting request gives its place to others.
      req.place?.leave();
      const controller = new AbortController();
      if (res.closed) controller.abort();
      else res.once('close', () => controller.abort());
      return controller.signal;
    },
  };
}
