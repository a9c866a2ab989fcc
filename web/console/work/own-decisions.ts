import { get, set, withEntry } from '../session/state.ts';
import type { Item } from '../words/api-model.ts';

const decidedVersion = (id: string): number | undefined => get().decided.get(id);

/** Records that this console has sent a decision on this version of the item. */
export function recordDecision({ id, version }: Item): void {
  set({ decided: withEntry(get().decided, id, version) });
}

/** Deletes the record, after a refusal or an undo. */
export function forgetDecision(id: string): void {
  set({ decided: withEntry(get().decided, id, undefined) });
}

export const isDecidedHere = (id: string): boolean => get().decided.has(id);

/** Whether a stream message of this version reports the decision itself. */
export const isEcho = (id: string, version: number | null): boolean =>
  isDecidedHere(id) && (version ?? 0) <= (decidedVersion(id) ?? 0) + 1;

/** Whether an answer shows the item as it was before the decision. */
export const isOutdated = ({ id, version }: Item): boolean => version <= (decidedVersion(id) ?? 0);
