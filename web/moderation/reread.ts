import { call } from './api.ts';
import { named, pathOf } from './names.ts';
import { get, itemOf, set, withEntry } from './state.ts';
import { waits } from './why-not.ts';
import type { Detail, Item } from './wire.ts';

/** By item: the request number of the shown version; answers to earlier requests are dropped. */
const shownSince = new Map<string, number>();
let questions = 0;

/** Returns a new request number, which orders answers by the time of their requests. */
export const ask = (): number => ++questions;

/** Returns the answer, or the shown item if that was requested later. */
export function latest(answer: Item, asked: number): Item {
  const shown = itemOf(answer.id);
  if (shown && (shownSince.get(answer.id) ?? 0) > asked) return shown;
  shownSince.set(answer.id, asked);
  return answer;
}

export function show(item: Item, asked: number): void {
  const shown = latest(item, asked);
  set({ items: get().items.map((one) => (one.id === item.id ? shown : one)) });
}

/** Reads one item again and replaces it in its row, with thread and history. */
export async function reread(id: string): Promise<void> {
  const asked = ask();
  try {
    const body = await call<Partial<Omit<Detail, 'version'>> & { item: Item }>('GET', pathOf(id));
    const { thread = [], history = [] } = body;
    const item = named(body.item);
    checkLease(item, asked);
    show(item, asked);
    // An earlier request can be answered later.
    if ((get().details.get(id)?.version ?? 0) <= item.version)
      set({ details: withEntry(get().details, id, { thread, history, version: item.version }) });
  } catch {
    // Keep the shown item; the top bar shows a lost connection.
  }
}

/** Drops a lease that ended with a decision; marks a lease that the service ended as lost. */
function checkLease(item: Item, asked: number): void {
  const lease = get().leases.get(item.id);
  if (!lease || lease.since > asked || item.claim?.mine) return;
  if (get().marks.get(item.id)?.kind === 'deciding') return;
  const over = item.claim === null && !waits(item);
  set({ leases: withEntry(get().leases, item.id, over ? undefined : { ...lease, lost: true }) });
}
