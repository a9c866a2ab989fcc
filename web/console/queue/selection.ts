import { findItem, get, set, showToast } from '../session/state.ts';
import { isNote } from '../words/api-model.ts';

/** Toggles the selection of a note. Records cannot be selected. */
export function toggleSelection(id: string | null): void {
  if (!id || get().me?.role === 'auditor') return;
  const item = findItem(id);
  if (item && !isNote(item)) {
    showToast('Only notes can be selected.');
    return;
  }
  const selected = new Set(get().selected);
  if (!selected.delete(id)) selected.add(id);
  set({ selected });
}

/** The ids of all notes in the list. */
export const selectableIds = (): readonly string[] =>
  get()
    .items.filter((item) => isNote(item) && !get().gone.has(item.id))
    .map(({ id }) => id);

export const selectAll = (): void => set({ selected: new Set(selectableIds()) });
