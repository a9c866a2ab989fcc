import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { isNote } from '../words/api-model.ts';
import { findItem, queueState } from './queue-state.ts';

/** Toggles the selection of a note. Records cannot be selected. */
export function toggleSelection(id: string | null): void {
  if (!id || connectionState().me?.role === 'auditor') return;
  const item = findItem(id);
  if (item && !isNote(item)) {
    showToast('Only notes can be selected.');
    return;
  }
  const selected = new Set(queueState().selected);
  if (!selected.delete(id)) selected.add(id);
  queueState.set({ selected });
}

/** The ids of all notes in the list. */
export const selectableIds = (): readonly string[] =>
  queueState()
    .items.filter((item) => isNote(item) && !queueState().gone.has(item.id))
    .map(({ id }) => id);

export const select = (ids: readonly string[]): void => queueState.set({ selected: new Set(ids) });

export const selectAll = (): void => select(selectableIds());
