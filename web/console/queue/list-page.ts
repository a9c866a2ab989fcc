import { call, nextRequest } from '../session/moderation-api.ts';
import { type Item, isList, type QueueBody, withItemId } from '../words/api-model.ts';
import { NO_FILTERS, toParams } from './address.ts';
import { currentList, placeState } from './queue-state.ts';
import { pickLatest } from './read-item.ts';

/** A page of a list, with the number of its request. */
export type Page = QueueBody & { requestNumber: number };

let newestList = 0;

/** Number of the latest list; answers for earlier lists are dropped. */
export const listNumber = (): number => newestList;
export const isListCurrent = (number: number): boolean => number === newestList;

/** Begins a list, with another view or other filters, or from its first page. */
export const startList = (): number => ++newestList;

/** Reads one page of the current view with the current filters. */
export const readPage = (limit: number, cursor?: string | null): Promise<Page> =>
  readList({ limit: String(limit), ...(cursor ? { cursor } : {}) });

/** Reads those of these items that are in the current list. */
export async function readItems(ids: readonly string[]): Promise<QueueBody> {
  const page = await readList({ limit: String(ids.length), only: ids.join(',') });
  return { ...page, items: toShownItems(page) };
}

async function readList(more: Record<string, string>): Promise<Page> {
  // The filters of the audit are none of the queue, which changes meanwhile.
  const { view, filters } = placeState();
  const params = toParams(isList(view) ? filters : NO_FILTERS);
  for (const [name, value] of Object.entries({ view: currentList(), ...more }))
    params.set(name, value);
  const request = nextRequest();
  const body = await call<QueueBody>('GET', `queue?${params}`);
  return { ...body, items: body.items.map(withItemId), requestNumber: request };
}

/** The items of a page, each replaced by the shown item if that was requested later. */
export const toShownItems = ({ items, requestNumber }: Page): Item[] =>
  items.map((item) => pickLatest(item, requestNumber));
