import { call } from './api.ts';
import { named, pathOf } from './names.ts';
import { get, itemOf, set, withEntry } from './state.ts';
import { waits } from './why-not.ts';
import type { Detail, Item } from './wire.ts';

/** When what is shown of an item was asked for: the answer to an earlier question comes too late. */
const shownSince = new Map<string, number>();
let questions = 0;

export const ask = (): number => ++questions;

/** Of what is shown of an item and an answer: what was asked for last. */
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

/** One item as it is now: what is shown of it changes in its place. */
export async function reread(id: string): Promise<void> {
  const asked = ask();
  try {
    const body = await call<Partial<Omit<Detail, 'version'>> & { item: Item }>('GET', pathOf(id));
    const { thread = [], history = [] } = body;
    const item = named(body.item);
    checkLease(item, asked);
    show(item, asked);
    // An earlier question may be answered later.
    if ((get().details.get(id)?.version ?? 0) <= item.version)
      set({ details: withEntry(get().details, id, { thread, history, version: item.version }) });
  } catch {
    // What is shown stays; a call that fails shows at the top of the page already.
  }
}

/** A claim that the service no longer knows is lost, or over with the decision. */
function checkLease(item: Item, asked: number): void {
  const lease = get().leases.get(item.id);
  if (!lease || lease.since > asked || item.claim?.mine) return;
  if (get().marks.get(item.id)?.kind === 'deciding') return;
  const over = item.claim === null && !waits(item);
  set({ leases: withEntry(get().leases, item.id, over ? undefined : { ...lease, lost: true }) });
}
