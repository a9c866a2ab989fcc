import { readLocalData, saveLocalData } from './local-data.ts';

export interface Draft {
  /** The id of the future note. */
  id: string;
  message: string;
  name: string;
  asGuest: boolean;
}

/** Reads this tab's draft, or else the last draft of any tab, which may be closed by now. */
export const readDraft = (slot: string): Draft | undefined =>
  readLocalData(slot, 'sessionStorage') ?? readLocalData(slot);

export function saveDraft(slot: string, draft: Draft): void {
  saveLocalData(slot, draft, 'sessionStorage');
  saveLocalData(slot, draft);
}

/** Deletes the draft with this id. A newer draft of another tab has another id and stays. */
export function deleteDraft(slot: string, id: string): void {
  for (const area of ['sessionStorage', 'localStorage'] as const)
    if (readLocalData<Draft>(slot, area)?.id === id) saveLocalData(slot, undefined, area);
}
