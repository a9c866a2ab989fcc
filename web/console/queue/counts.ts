import { findLease } from '../in-progress/leases.ts';
import { createState } from '../session/store.ts';
import { type Action, type Counts, type Item, isNote } from '../words/api-model.ts';
import { currentList } from './queue-state.ts';

/** How many items each view has: as the service counted last, with the own decisions since. */
export const countState = createState({ session: { counts: null as Counts | null } });

/** What the service counted last. */
let served: Counts | null = null;
/** How many decisions the service had counted there before their answers came. */
let answered = 0;
/** How often own decisions were added. */
let additions = 0;

/** Shows what the service has counted. */
export function setCounts(counts: Counts): void {
  served = counts;
  answered = 0;
  countState.set({ counts });
}

/**
 * To be called when counts are requested; the returned function shows them, unless own decisions were added
 * meanwhile, which they may lack.
 */
export function awaitCounts(): (counts: Counts | null) => void {
  const asked = additions;
  return (counts) => {
    if (counts && asked === additions) setCounts(counts);
  };
}

/**
 * Moves the counts with own decisions on items of the current list, before their leases are deleted.
 * The service counts again within seconds, and that count replaces this one. `before` are the counts that were shown when
 * the decisions were sent: where the service has counted fewer since, it has counted them.
 */
export function addDecided(items: readonly Item[], action: Action, before: Counts | null): void {
  const { counts } = countState();
  const view = currentList();
  if (!counts || !served || view === 'decided') return;
  if (before && before[view] - served[view] - answered >= items.length) {
    answered += items.length;
    return;
  }
  additions += 1;
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
  countState.set({ counts: next });
}
