import { type Operations, ROUTES } from './schema.ts';
import type { Operation } from './send.ts';

/** Options of one call. */
export interface CallOptions {
  /** Ends the call; the reason of the signal is the error. */
  signal?: AbortSignal | undefined;
  /** Timeout of one attempt in milliseconds, instead of that of the client. */
  timeout?: number | undefined;
  /** Largest number of retries; without it, `patience` of the client alone limits them. */
  maxRetries?: number | undefined;
  /**
   * The key of a write, random by default. To survive a crash, save the key and the request before the call
   * and repeat both after the crash: the service returns the same receipt.
   */
  idempotencyKey?: string | undefined;
}

export interface Input<Of extends keyof Operations> {
  path?: Operations[Of]['path'];
  query?: Operations[Of]['query'];
  body?: Operations[Of]['body'];
  /** A path with its query, from the link to the next page. */
  next?: string | undefined;
}

/** The request of an operation: its route with the fields of the input. */
export function toOperation<Of extends keyof Operations>(
  id: Of,
  { path = {}, query = {}, body, next }: Input<Of>,
  { signal, timeout, maxRetries }: CallOptions = {},
): Operation {
  const [method, route] = ROUTES[id];
  const values: Record<string, string> = path;
  const filled = route.replaceAll(/\{(\w+)\}/g, (_, name) => toSegment(name, values[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value));
  const words = search.size > 0 ? `?${search}` : '';
  return {
    method,
    path: next ?? `${filled}${words}`,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
    timeout,
    maxRetries,
  };
}

/** A value as one part of a path. Throws a `TypeError` for one that would lead to another path. */
function toSegment(name: string, value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} must not be ${JSON.stringify(value)}`);
  return encodeURIComponent(value);
}
