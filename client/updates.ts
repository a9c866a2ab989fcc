import { ProblemError } from './send.ts';
import type { UpdateEvent, UpdatesPage } from './wire.ts';

/** The service's log was restored from a backup, and events after `keptThrough` are lost. */
export interface Reset {
  /** The sequence of the last event that was kept; 0 if none is known to be. */
  keptThrough: number;
  /** Identifies the history of the log that is valid now. */
  epoch: number;
  /** The cursor after the last event that was kept. */
  cursor: string;
}

export interface UpdatesOptions {
  /**
   * The last saved cursor. Without a cursor, the updates start with the first event of the member.
   */
  cursor?: string | undefined;
  /** Events in a page, 1 to 100 (100 by default). */
  limit?: number;
  /**
   * Seconds for which the service holds a request while there is no event, 0 to 25 (25 by default).
   */
  wait?: number;
  /**
   * Saves new events and the cursor after them, together or not at all. Work that must happen
   * exactly once for each event belongs here, in the same transaction. If it throws, the iteration
   * ends with that error, and the next iteration gets the page again.
   */
  save?: (events: readonly UpdateEvent[], cursor: string) => Promise<void> | void;
  /**
   * Called when events that may have been read are lost, before anything else is read. Removes the
   * recorded events with a sequence greater than `keptThrough` and saves `cursor`, together or not at
   * all; the iteration then continues there. Repeat writes whose events were lost, with their keys.
   * Without `onReset` the iteration ends with a `ProblemError`, so that no event is ever skipped.
   */
  onReset?: (reset: Reset) => Promise<void> | void;
  /** Ends after the newest event instead of waiting for more events. */
  untilNow?: boolean;
  /** Without a cursor, starts after the newest event instead of at the first one. */
  start?: 'now';
  /** Only events of these types, such as `case.claimed` or `case.*`. */
  types?: readonly string[];
  /** Ends the iteration; the reason of the signal is the error. */
  signal?: AbortSignal | undefined;
}

/** Number of remembered event ids, by which duplicates are dropped. */
const REMEMBERED = 1000;

/** Yields a member's events, each after its page was saved. Ends only if `untilNow` is set. */
export async function* follow(
  read: (path: string, held: number) => Promise<UpdatesPage>,
  options: UpdatesOptions,
): AsyncGenerator<UpdateEvent, void, void> {
  const { limit = 100, save, onReset, untilNow = false, types } = options;
  const wait = untilNow ? 0 : (options.wait ?? 25);
  const known = new Set<string>();
  let { cursor } = options;
  for (;;) {
    const query = new URLSearchParams({ limit: String(limit), wait: String(wait) });
    if (cursor !== undefined) query.set('cursor', cursor);
    else if (options.start) query.set('start', options.start);
    if (types) query.set('types', types.join(','));
    const page = await read(`/api/v1/updates?${query}`, wait).catch(async (error: unknown) => {
      const reset = toReset(error);
      if (!reset || !onReset) throw error;
      await onReset(reset);
      return reset;
    });
    if ('keptThrough' in page) {
      ({ cursor } = page);
      // Events that are removed and still exist are yielded again.
      known.clear();
      continue;
    }
    const events = page.events.filter(({ id }) => !known.has(id));
    const starts = cursor === undefined && options.start !== undefined;
    if (page.events.length > 0 || starts) await save?.(events, page.next_cursor);
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

function toReset(error: unknown): Reset | undefined {
  if (!(error instanceof ProblemError) || error.code !== 'cursor_reset') return undefined;
  const { kept_through: keptThrough, epoch, cursor } = error.body.error ?? {};
  if (keptThrough === undefined || epoch === undefined || !cursor) return undefined;
  return { keptThrough, epoch, cursor };
}
