import { hash } from 'node:crypto';
import type { Content } from '../../../platform/http/route.ts';

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
