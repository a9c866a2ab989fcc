import { call } from './api.ts';
import { named } from './names.ts';
import { ask, latest } from './reread.ts';
import { get, listView } from './state.ts';
import type { Item, QueueBody } from './wire.ts';

/** A page of a list, and when it was asked for. */
export type Page = QueueBody & { asked: number };

/** One page of the view and the filters of now. */
export async function readPage(limit: number, cursor?: string | null): Promise<Page> {
  const { filters } = get();
  const parts = new URLSearchParams({ view: listView(), limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) if (value) parts.set(name, value);
  if (cursor) parts.set('cursor', cursor);
  const asked = ask();
  const body = await call<QueueBody>('GET', `queue?${parts}`);
  return { ...body, items: body.items.map(named), asked };
}

/** What to show of a page: of each item what was asked for last. */
export const shownOf = ({ items, asked }: Page): Item[] => items.map((item) => latest(item, asked));
