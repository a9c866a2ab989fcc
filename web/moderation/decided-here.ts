import type { Item } from './wire.ts';

/** The version that a decision of this console was about, until it is refused or undone. */
const versions = new Map<string, number>();

export function decidedHere({ id, version }: Item): void {
  versions.set(id, version);
}

export function notDecidedHere(id: string): void {
  versions.delete(id);
}

export const wasDecidedHere = (id: string): boolean => versions.has(id);

/** What the stream tells of that decision itself. */
export const isEcho = (id: string, version: number | null): boolean =>
  versions.has(id) && (version ?? 0) <= (versions.get(id) ?? 0) + 1;

/** An answer from before the decision, that comes after it. */
export const isOutdated = ({ id, version }: Item): boolean => version <= (versions.get(id) ?? 0);
