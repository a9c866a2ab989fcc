/**
 * What this console has sent about items. Two answers about one item can arrive in either order, so
 * code that depends on an answer waits for it here.
 */
import { createState, withEntry } from '../session/store.ts';
import type { Action, Item } from '../words/api-model.ts';

/** Local status of a row, in addition to the API's data. */
export type Mark = { kind: 'deciding'; action: Action } | { kind: 'conflict'; text: string };

export const sentState = createState({
  session: {
    /** By item: the version that was decided on here, until the decision is refused or undone. */
    decided: new Map() as ReadonlyMap<string, number>,
  },
  view: { marks: new Map() as ReadonlyMap<string, Mark> },
});

export function setMark(id: string, value: Mark | undefined): void {
  sentState.set({ marks: withEntry(sentState().marks, id, value) });
}

/** Whether a decision on the item waits for its answer. */
export const isDeciding = (id: string): boolean => sentState().marks.get(id)?.kind === 'deciding';

const decidedVersion = (id: string): number | undefined => sentState().decided.get(id);

/** Records that this console has sent a decision on this version of the item. */
export function recordDecision({ id, version }: Item): void {
  sentState.set({ decided: withEntry(sentState().decided, id, version) });
}

/** Deletes the record, after a refusal or an undo. */
export function forgetDecision(id: string): void {
  sentState.set({ decided: withEntry(sentState().decided, id, undefined) });
}

export const isDecidedHere = (id: string): boolean => sentState().decided.has(id);

/** Whether a stream message of this version reports the decision itself. */
export const isEcho = (id: string, version: number | null): boolean =>
  isDecidedHere(id) && (version ?? 0) <= (decidedVersion(id) ?? 0) + 1;

/** Whether an answer shows the item as it was before the decision. */
export const isOutdated = ({ id, version }: Item): boolean => version <= (decidedVersion(id) ?? 0);

let decisions: Promise<unknown> = Promise.resolve();
const claims = new Map<string, Promise<unknown>>();

/** Sends a decision, which counts as in flight from before its first step. */
export function trackDecision(send: () => Promise<void>): Promise<void> {
  let settle = () => {};
  const answered = new Promise<void>((resolve) => {
    settle = resolve;
  });
  decisions = Promise.allSettled([decisions, answered]);
  return send().finally(settle);
}

export function trackClaim(id: string, answer: Promise<unknown>): void {
  const settled = Promise.allSettled([claims.get(id), answer]).then(() => {
    if (claims.get(id) === settled) claims.delete(id);
  });
  claims.set(id, settled);
}

export const decisionsSettled = (): Promise<unknown> => decisions;

export const claimSettled = (id: string): Promise<unknown> | undefined => claims.get(id);
