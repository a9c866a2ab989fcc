import { randomUuid } from '../shared/random.ts';
import { call, Failure, failureOf } from './api.ts';
import { decidedHere, notDecidedHere } from './decided-here.ts';
import { drop } from './leases.ts';
import { titleOf } from './policy-list.ts';
import { focusOn, nextAfter, settle } from './queue.ts';
import { reread } from './reread.ts';
import { select } from './selection.ts';
import { get, mark, set, toast } from './state.ts';
import { remember } from './undo.ts';
import { type Action, type BatchResult, type Item, isNote } from './wire.ts';
import { doneWords, failureWords, plural, refusalWords } from './words.ts';

const MAX_IN_BATCH = 100;

const chosenNotes = (): Item[] => {
  const { items, selected } = get();
  return items.filter((item) => isNote(item) && selected.has(item.id));
};

/** The first of these actions that at least one selected note allows. */
export const batchAction = (actions: readonly Action[]): Action | undefined =>
  actions.find((one) => chosenNotes().some((item) => item.allowed_actions.includes(one)));

/** Opens the preview of a batch, which runs only after confirmation. */
export function preview(actions: readonly Action[]): void {
  if (get().selected.size === 0) {
    toast('Nothing is selected. Press x to select a note.');
    return;
  }
  const chosen = chosenNotes();
  const action = batchAction(actions);
  if (!action) {
    toast('None of the selected notes allows this.');
    return;
  }
  const fit = chosen.filter((item) => item.allowed_actions.includes(action));
  set({ batch: { action, items: fit.slice(0, MAX_IN_BATCH), sending: false } });
}

/** Sends the previewed batch. Refused notes stay in the list, with the reason. */
export async function runBatch(policy?: string): Promise<void> {
  const { batch } = get();
  if (!batch || batch.sending) return;
  set({ batch: { ...batch, sending: true } });
  const { action, items } = batch;
  for (const item of items) decidedHere(item);
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
    for (const { note_id, error = { code: 'refused' } } of failed) keepBack(note_id, error);
    const done = results.filter(({ status }) => status === 'decided');
    const last = items.at(-1)?.id ?? '';
    for (const { id } of items) mark(id, get().marks.get(id) ?? { kind: 'deciding', action });
    const next = done.some(({ note_id }) => note_id === get().focusId)
      ? nextAfter(last)
      : get().focusId;
    for (const { note_id } of done) {
      mark(note_id, undefined);
      drop(note_id);
      settle(note_id);
    }
    set({ batch: null });
    focusOn(next);
    const words = `${doneWords(action, policy && titleOf(policy))}: ${plural(done.length, 'note')}`;
    const undo =
      done.length > 0
        ? { kind: 'batch' as const, batchId: batch_id, words, about: '', key: randomUuid() }
        : null;
    if (undo) remember(undo);
    toast(failed.length ? `${words}; ${plural(failed.length, 'note')} refused` : words, {
      undo,
      tone: failed.length ? 'alert' : 'plain',
    });
  } catch (error) {
    for (const { id } of items) notDecidedHere(id);
    set({ batch: null });
    toast(refusalWords('Nothing was decided', 'batch', failureOf(error)), { tone: 'alert' });
  }
}

function keepBack(itemId: string, { code, ...details }: NonNullable<BatchResult['error']>): void {
  notDecidedHere(itemId);
  const failure = new Failure(409, code, code.replaceAll('_', ' '), details);
  mark(itemId, { kind: 'conflict', text: failureWords(failure) });
  if (get().selected.has(itemId)) select(itemId);
  void reread(itemId);
}
