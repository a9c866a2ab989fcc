import { get, itemOf, set, toast } from './state.ts';
import { isNote } from './wire.ts';

/** Selects a note, or takes it out of the selection. */
export function select(id: string | null): void {
  if (!id) return;
  const item = itemOf(id);
  if (item && !isNote(item)) {
    toast('Only notes are decided on together.');
    return;
  }
  const selected = new Set(get().selected);
  if (!selected.delete(id)) selected.add(id);
  set({ selected });
}

/** Every note that is shown. */
export const selectable = (): readonly string[] =>
  get()
    .items.filter(isNote)
    .map(({ id }) => id);

export const selectAll = (): void => set({ selected: new Set(selectable()) });
