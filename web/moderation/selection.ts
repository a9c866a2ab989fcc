import { get, itemOf, set, toast } from './state.ts';
import { isNote } from './wire.ts';

/** Toggles the selection of a note. Records cannot be selected. */
export function select(id: string | null): void {
  if (!id) return;
  const item = itemOf(id);
  if (item && !isNote(item)) {
    toast('Only notes can be selected.');
    return;
  }
  const selected = new Set(get().selected);
  if (!selected.delete(id)) selected.add(id);
  set({ selected });
}

/** The ids of all notes in the list. */
export const selectable = (): readonly string[] =>
  get()
    .items.filter(isNote)
    .map(({ id }) => id);

export const selectAll = (): void => set({ selected: new Set(selectable()) });
