import { keep, readKept } from './kept.ts';

export interface Draft {
  /** The id of the future note. */
  id: string;
  message: string;
  name: string;
  asGuest: boolean;
}

/** Reads this tab's draft, or else the last draft of any tab, which may be closed by now. */
export const readDraft = (slot: string): Draft | undefined =>
  readKept(slot, 'sessionStorage') ?? readKept(slot);

export function keepDraft(slot: string, draft: Draft): void {
  keep(slot, draft, 'sessionStorage');
  keep(slot, draft);
}

/** Deletes the draft with this id. A newer draft of another tab has another id and stays. */
export function dropDraft(slot: string, id: string): void {
  for (const area of ['sessionStorage', 'localStorage'] as const)
    if (readKept<Draft>(slot, area)?.id === id) keep(slot, undefined, area);
}
