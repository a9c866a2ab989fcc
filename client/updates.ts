import type { UpdateEvent, UpdatesPage } from './wire.ts';

export interface UpdatesOptions {
  /** The last cursor saved; none: from the member's first event. */
  cursor?: string | undefined;
  /** Events of a page, 1 to 100. */
  limit?: number;
  /** Seconds that the service holds a request that has nothing to answer, 0 to 25. */
  wait?: number;
  /**
   * Saves new events and the cursor after them, together or not at all. What must happen exactly
   * once for each event belongs in here, in the same transaction. Where it throws, the iteration
   * ends, and the next one gets the page again.
   */
  save?: (events: readonly UpdateEvent[], cursor: string) => Promise<void> | void;
  /** Ends, instead of waiting, once everything there is was given. */
  untilNow?: boolean;
}

/** Ids that are remembered, so that an event delivered twice is given once. */
const REMEMBERED = 1000;

/** A member's events, each after its page was saved; without an end, unless `untilNow`. */
export async function* follow(
  read: (path: string, held: number) => Promise<UpdatesPage>,
  options: UpdatesOptions,
): AsyncGenerator<UpdateEvent, void, void> {
  const { limit = 100, save, untilNow = false } = options;
  const wait = untilNow ? 0 : (options.wait ?? 25);
  const known = new Set<string>();
  let { cursor } = options;
  for (;;) {
    const query = new URLSearchParams({ limit: String(limit), wait: String(wait) });
    if (cursor !== undefined) query.set('cursor', cursor);
    const page = await read(`/api/v1/updates?${query}`, wait);
    const events = page.events.filter(({ id }) => !known.has(id));
    if (page.events.length > 0) await save?.(events, page.next_cursor);
    cursor = page.next_cursor;
    for (const { id } of events) known.add(id);
    for (const id of known) {
      if (known.size <= REMEMBERED) break;
      known.delete(id);
    }
    yield* events;
    if (untilNow && !page.has_more) return;
  }
}
