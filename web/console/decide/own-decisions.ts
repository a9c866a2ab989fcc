import { currentList } from '../queue/place.ts';
import { queueState, setCounts } from '../queue/queue-state.ts';
import type { Undoable } from '../session/messages.ts';
import { createState } from '../session/store.ts';
import { type Action, type Counts, type Item, isNote } from '../words/api-model.ts';
import { findLease } from '../work/leases.ts';

export type OwnDecision = Undoable | { kind: 'final'; words: string; about: string };

export const decisionState = createState({
  session: {
    /** Decisions made here, the latest last. */
    ownDecisions: [] as readonly OwnDecision[],
    /** How many were made since signing in, those that were undone included. */
    made: 0,
  },
});

export function addOwnDecision(decision: OwnDecision): void {
  decisionState.set({ ownDecisions: [...decisionState().ownDecisions, decision] });
}

export function removeOwnDecision(decision: OwnDecision): void {
  const same = (one: OwnDecision) =>
    one === decision ||
    (one.kind === 'item' && decision.kind === 'item' && one.eventId === decision.eventId);
  decisionState.set({ ownDecisions: decisionState().ownDecisions.filter((one) => !same(one)) });
}

/**
 * Moves the counts with own decisions on items of the current list, before their leases are deleted.
 * The service counts again within seconds, and that count replaces this one.
 */
export function countDecided(items: readonly Item[], action: Action): void {
  decisionState.set({ made: decisionState().made + items.length });
  const { counts } = queueState();
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
  setCounts(next);
}
