import { useEffect, useState } from 'preact/hooks';
import { randomUuid } from '../shared/random.ts';
import { localDataNames, readLocalData, saveLocalData } from './local-data.ts';

export interface Draft {
  /** The id of the future note. */
  id: string;
  message: string;
  name: string;
  asGuest: boolean;
  /** The handle of the member who began it; absent for a guest. */
  startedBy?: string | undefined;
}

/**
 * The draft of a form, and a function to change it. It is kept on this device under `slot`, for the
 * member who began it: `handle` is that of the member who is signed in.
 */
export function useDraft(slot: string, handle: string | undefined) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(slot, handle) ?? newDraft());
  // Signing in as another member, and signing out, which deletes the draft, leave an empty form. A
  // session that expires leaves the text.
  useEffect(() => {
    setDraft((current) =>
      current.startedBy && readDraft(slot, handle)?.id !== current.id ? newDraft() : current,
    );
  }, [slot, handle]);
  const changeDraft = (changes: Partial<Draft>) =>
    // Update the current draft: an answer can arrive long after its request.
    setDraft((current) => {
      const next = { ...current, ...changes };
      if (handle && !current.message && !current.name) next.startedBy = handle;
      if (next.message || next.name) saveDraft(slot, next);
      else deleteDraft(slot, current.id);
      return next;
    });
  return [draft, changeDraft] as const;
}

const newDraft = (): Draft => ({ id: randomUuid(), message: '', name: '', asGuest: false });

/**
 * Reads this tab's draft, or else the last draft of any tab, which may be closed by now; neither if
 * another member began it.
 */
function readDraft(slot: string, handle: string | undefined): Draft | undefined {
  const draft = readLocalData<Draft>(slot, 'sessionStorage') ?? readLocalData<Draft>(slot);
  const isForeign = handle !== undefined && draft?.startedBy && draft.startedBy !== handle;
  return isForeign ? undefined : draft;
}

function saveDraft(slot: string, draft: Draft): void {
  saveLocalData(slot, draft, 'sessionStorage');
  saveLocalData(slot, draft);
}

/** Deletes the draft with this id. A newer draft of another tab has another id and stays. */
export function deleteDraft(slot: string, id: string): void {
  for (const area of ['sessionStorage', 'localStorage'] as const)
    if (readLocalData<Draft>(slot, area)?.id === id) saveLocalData(slot, undefined, area);
}

/** Deletes the drafts that a member began on this device. */
export function deleteDraftsOf(handle: string): void {
  for (const area of ['sessionStorage', 'localStorage'] as const)
    for (const name of localDataNames(area))
      if (name.startsWith('draft.') && readLocalData<Draft>(name, area)?.startedBy === handle)
        saveLocalData(name, undefined, area);
}
