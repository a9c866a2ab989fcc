import { queueState } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import { select } from '../queue/selection.ts';
import { showToast, type Undoable } from '../session/messages.ts';
import { refusalText, toFailure } from '../words/failure.ts';
import { plural } from '../words/format.ts';
import { runInSequence, toUndoable, undoDecision } from './undo.ts';

/** The decisions on the selected items that this moderator can undo now. */
export const undoableSelection = (): Undoable[] =>
  queueState()
    .items.filter(({ id }) => queueState().selected.has(id))
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
    select(refused);
    if (refused.length === 0) showToast(`Undone: ${undone}`);
    else
      showToast(
        `Undone: ${undone}. ${refusalText(`${refused.length} not undone`, 'undo', toFailure(fault))}`,
        { tone: 'alert' },
      );
  });
