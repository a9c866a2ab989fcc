import { get, set, withEntry } from './state.ts';
import type { Item } from './wire.ts';

const versionOf = (id: string): number | undefined => get().decided.get(id);

/** Records that this console has sent a decision on this version of the item. */
export function decidedHere({ id, version }: Item): void {
  set({ decided: withEntry(get().decided, id, version) });
}

/** Deletes the record, after a refusal or an undo. */
export function notDecidedHere(id: string): void {
  set({ decided: withEntry(get().decided, id, undefined) });
}

export const wasDecidedHere = (id: string): boolean => get().decided.has(id);

/** Whether a stream message of this version reports the decision itself. */
export const isEcho = (id: string, version: number | null): boolean =>
  wasDecidedHere(id) && (version ?? 0) <= (versionOf(id) ?? 0) + 1;

/** Whether an answer shows the item as it was before the decision. */
export const isOutdated = ({ id, version }: Item): boolean => version <= (versionOf(id) ?? 0);
