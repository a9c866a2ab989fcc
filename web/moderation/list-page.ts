import { call } from './api.ts';
import { named } from './names.ts';
import { ask, latest } from './reread.ts';
import { get, listView } from './state.ts';
import type { Item, QueueBody } from './wire.ts';

/** A page of a list, with the number of its request. */
export type Page = QueueBody & { asked: number };

/** Reads one page of the current view with the current filters. */
export async function readPage(limit: number, cursor?: string | null): Promise<Page> {
  const { filters } = get();
  const parts = new URLSearchParams({ view: listView(), limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) if (value) parts.set(name, value);
  if (cursor) parts.set('cursor', cursor);
  const asked = ask();
  const body = await call<QueueBody>('GET', `queue?${parts}`);
  return { ...body, items: body.items.map(named), asked };
}

/** The items of a page, each replaced by the shown item if that was requested later. */
export const shownOf = ({ items, asked }: Page): Item[] => items.map((item) => latest(item, asked));
