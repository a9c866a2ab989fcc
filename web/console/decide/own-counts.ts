import { currentList, get, set } from '../session/state.ts';
import type { Action, Counts, Item } from '../words/api-model.ts';
import { isNote } from '../words/api-model.ts';
import { findLease } from '../work/leases.ts';

/**
 * Moves the counts with own decisions on items of the current list, before their leases are deleted.
 * The service counts again within seconds, and that count replaces this one.
 */
export function countDecided(items: readonly Item[], action: Action): void {
  set({ made: get().made + items.length });
  const { counts } = get();
  const view = currentList();
  if (!counts || view === 'decided') return;
  const next: Counts = { ...counts };
  const change = (name: keyof Counts, by: number) => {
    next[name] = Math.max(0, next[name] + by);
  };
  for (const item of items) {
    change(view, -1);
    if (view !== 'mine' && findLease(item.id)) change('mine', -1);
    if (action === 'defer') change('deferred', 1);
    if (action === 'escalate' && !(isNote(item) && item.tier === 'lead')) change('escalated', 1);
  }
  set({ counts: next });
}
