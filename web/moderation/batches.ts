import { randomUuid } from '../shared/random.ts';
import { call, Failure, toFailure } from './api.ts';
import { type Action, type BatchResult, type Item, isNote } from './api-model.ts';
import { failureText, refusalText } from './failure-text.ts';
import { plural } from './format.ts';
import { decisionText } from './labels.ts';
import { deleteLease } from './leases.ts';
import { forgetDecision, recordDecision } from './own-decisions.ts';
import { policyTitle } from './policy-list.ts';
import { focusOn, nextAfter, removeDecided } from './queue.ts';
import { refreshItem } from './refresh.ts';
import { toggleSelection } from './selection.ts';
import { get, set, setMark, showToast } from './state.ts';
import { addOwnDecision } from './undo.ts';

const MAX_IN_BATCH = 100;

const selectedNotes = (): Item[] => {
  const { items, selected } = get();
  return items.filter((item) => isNote(item) && selected.has(item.id));
};

/** The first of these actions that at least one selected note allows. */
export const batchAction = (actions: readonly Action[]): Action | undefined =>
  actions.find((one) => selectedNotes().some((item) => item.allowed_actions.includes(one)));

/** Opens the preview of a batch, which runs only after confirmation. */
export function openBatchPreview(actions: readonly Action[]): void {
  if (get().selected.size === 0) {
    showToast('Nothing is selected. Press x to select a note.');
    return;
  }
  const notes = selectedNotes();
  const action = batchAction(actions);
  if (!action) {
    showToast('None of the selected notes allows this.');
    return;
  }
  const allowed = notes.filter((item) => item.allowed_actions.includes(action));
  set({ batch: { action, items: allowed.slice(0, MAX_IN_BATCH), sending: false } });
}

/** Sends the previewed batch. Refused notes stay in the list, with the reason. */
export async function runBatch(policy?: string): Promise<void> {
  const { batch } = get();
  if (!batch || batch.sending) return;
  set({ batch: { ...batch, sending: true } });
  const { action, items } = batch;
  for (const item of items) recordDecision(item);
  try {
    const { batch_id, results } = await call<{ batch_id: string; results: BatchResult[] }>(
      'POST',
      'decisions/batch',
      {
        action,
        ...(policy ? { policy } : {}),
        items: items.map(({ id, version }) => ({ note_id: id, expected_version: version })),
      },
    );
    const failed = results.filter(({ status }) => status !== 'decided');
    for (const { note_id, error = { code: 'refused' } } of failed) showRefusedNote(note_id, error);
    const decided = results.filter(({ status }) => status === 'decided');
    const last = items.at(-1)?.id ?? '';
    for (const { id } of items) setMark(id, get().marks.get(id) ?? { kind: 'deciding', action });
    const next = decided.some(({ note_id }) => note_id === get().focusId)
      ? nextAfter(last)
      : get().focusId;
    for (const { note_id } of decided) {
      setMark(note_id, undefined);
      deleteLease(note_id);
      removeDecided(note_id);
    }
    set({ batch: null });
    focusOn(next);
    const words = `${decisionText(action, policy && policyTitle(policy))}: ${plural(decided.length, 'note')}`;
    const undo =
      decided.length > 0
        ? { kind: 'batch' as const, batchId: batch_id, words, about: '', key: randomUuid() }
        : null;
    if (undo) addOwnDecision(undo);
    showToast(failed.length ? `${words}; ${plural(failed.length, 'note')} refused` : words, {
      undo,
      tone: failed.length ? 'alert' : 'plain',
    });
  } catch (error) {
    for (const { id } of items) forgetDecision(id);
    set({ batch: null });
    showToast(refusalText('Nothing was decided', 'batch', toFailure(error)), { tone: 'alert' });
  }
}

function showRefusedNote(
  itemId: string,
  { code, ...details }: NonNullable<BatchResult['error']>,
): void {
  forgetDecision(itemId);
  const failure = new Failure(409, code, code.replaceAll('_', ' '), details);
  setMark(itemId, { kind: 'conflict', text: failureText(failure) });
  if (get().selected.has(itemId)) toggleSelection(itemId);
  void refreshItem(itemId);
}
