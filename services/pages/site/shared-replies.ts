import { hash } from 'node:crypto';
import type { Call, Content } from '../../../platform/http/route.ts';

/** A request for what is the same for all readers. */
export type Shared = Pick<Call, 'operation' | 'request' | 'route'> & {
  params?: unknown;
  query?: unknown;
};

/** A reply that concurrent readers share. */
export interface Shown {
  status: 200;
  content: Content;
  headers?: Record<string, string>;
}

/** What was asked for, in one form. */
export const addressOf = ({ operation, params, query }: Shared): string =>
  JSON.stringify([operation, params, query]);

/** How many documents are kept; a page of the guestbook has about 35 kB. */
const MOST = 100;

/**
 * Keeps the bytes of documents by what they show. The same data makes the same bytes, so nothing has
 * to be invalidated, and a document that is compressed once stays compressed. `name` is its address.
 */
export function keepBytes(most = MOST) {
  const kept = new Map<string, { shows: string; content: Content }>();
  return (name: string, shown: unknown, make: () => Content): Content => {
    const shows = hash('sha256', JSON.stringify(shown), 'base64url');
    const last = kept.get(name);
    const document =
      last?.shows === shows
        ? last
        : { shows, content: { ...make(), served: 'until-changed' as const } };
    // The one that was asked for last is the last in the map, and the first goes.
    kept.delete(name);
    kept.set(name, document);
    if (kept.size > most) kept.delete(kept.keys().next().value ?? '');
    return document.content;
  };
}
