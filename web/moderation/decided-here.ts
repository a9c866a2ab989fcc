import { get, set, withEntry } from './state.ts';
import type { Item } from './wire.ts';

const versionOf = (id: string): number | undefined => get().decided.get(id);

export function decidedHere({ id, version }: Item): void {
  set({ decided: withEntry(get().decided, id, version) });
}

export function notDecidedHere(id: string): void {
  set({ decided: withEntry(get().decided, id, undefined) });
}

export const wasDecidedHere = (id: string): boolean => get().decided.has(id);

/** What the stream tells of that decision itself. */
export const isEcho = (id: string, version: number | null): boolean =>
  wasDecidedHere(id) && (version ?? 0) <= (versionOf(id) ?? 0) + 1;

/** An answer from before the decision, that comes after it. */
export const isOutdated = ({ id, version }: Item): boolean => version <= (versionOf(id) ?? 0);
