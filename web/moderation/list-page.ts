import { call } from './api.ts';
import type { Item, QueueBody } from './api-model.ts';
import { withItemId } from './item-ids.ts';
import { nextRequest, pickLatest } from './refresh.ts';
import { currentList, get } from './state.ts';

/** A page of a list, with the number of its request. */
export type Page = QueueBody & { requestNumber: number };

/** Reads one page of the current view with the current filters. */
export async function readPage(limit: number, cursor?: string | null): Promise<Page> {
  const { filters } = get();
  const params = new URLSearchParams({ view: currentList(), limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) if (value) params.set(name, value);
  if (cursor) params.set('cursor', cursor);
  const request = nextRequest();
  const body = await call<QueueBody>('GET', `queue?${params}`);
  return { ...body, items: body.items.map(withItemId), requestNumber: request };
}

/** The items of a page, each replaced by the shown item if that was requested later. */
export const toShownItems = ({ items, requestNumber }: Page): Item[] =>
  items.map((item) => pickLatest(item, requestNumber));
