import { useState } from 'preact/hooks';
import { randomUuid } from '../shared/random.ts';
import { readLocalData, saveLocalData } from './local-data.ts';

export interface Draft {
  /** The id of the future note. */
  id: string;
  message: string;
  name: string;
  asGuest: boolean;
}

/** The draft of a form, and a function to change it. It is kept on this device under `slot`. */
export function useDraft(slot: string) {
  const [draft, setDraft] = useState<Draft>(() => ({
    id: randomUuid(),
    message: '',
    name: '',
    asGuest: false,
    ...readDraft(slot),
  }));
  const changeDraft = (changes: Partial<Draft>) =>
    // Update the current draft: an answer can arrive long after its request.
    setDraft((current) => {
      const next = { ...current, ...changes };
      if (next.message || next.name) saveDraft(slot, next);
      else deleteDraft(slot, current.id);
      return next;
    });
  return [draft, changeDraft] as const;
}

/** Reads this tab's draft, or else the last draft of any tab, which may be closed by now. */
const readDraft = (slot: string): Draft | undefined =>
  readLocalData(slot, 'sessionStorage') ?? readLocalData(slot);

function saveDraft(slot: string, draft: Draft): void {
  saveLocalData(slot, draft, 'sessionStorage');
  saveLocalData(slot, draft);
}

/** Deletes the draft with this id. A newer draft of another tab has another id and stays. */
export function deleteDraft(slot: string, id: string): void {
  for (const area of ['sessionStorage', 'localStorage'] as const)
    if (readLocalData<Draft>(slot, area)?.id === id) saveLocalData(slot, undefined, area);
}
