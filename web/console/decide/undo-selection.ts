import { refreshItem } from '../queue/refresh.ts';
import { toFailure } from '../session/moderation-api.ts';
import { get, set, showToast, type Undoable } from '../session/state.ts';
import { refusalText } from '../words/failure-text.ts';
import { plural } from '../words/format.ts';
import { runInSequence, toUndoable, undoDecision } from './undo.ts';

/** The decisions on the selected items that this moderator can undo now. */
export const undoableSelection = (): Undoable[] =>
  get()
    .items.filter(({ id }) => get().selected.has(id))
    .flatMap((item) => toUndoable(item) ?? []);

/** Undoes them one after the other; those that are refused stay selected. */
export const undoSelection = (): void =>
  runInSequence(async () => {
    const decisions = undoableSelection();
    const refused: string[] = [];
    let fault: unknown;
    for (const one of decisions) {
      if (one.kind !== 'item') continue;
      try {
        await undoDecision(one);
      } catch (error) {
        fault = error;
        refused.push(one.itemId);
      }
      void refreshItem(one.itemId);
    }
    const undone = plural(decisions.length - refused.length, 'decision');
    set({ selected: new Set(refused) });
    if (refused.length === 0) showToast(`Undone: ${undone}`);
    else
      showToast(
        `Undone: ${undone}. ${refusalText(`${refused.length} not undone`, 'undo', toFailure(fault))}`,
        { tone: 'alert' },
      );
  });
