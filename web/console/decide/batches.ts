import { randomUuid } from '../../shared/random.ts';
import { deleteLease } from '../in-progress/leases.ts';
import { forgetDecision, recordDecision, sentState, setMark } from '../in-progress/sent.ts';
import { countState } from '../queue/counts.ts';
import { focusOn, nextAfter, removeDecided } from '../queue/queue.ts';
import { findItem, placeState, queueState, toggleSelection } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import { showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { createState } from '../session/store.ts';
import {
  type Action,
  type BatchResult,
  type Item,
  isNote,
  type QueueBody,
  withItemId,
} from '../words/api-model.ts';
import { Failure, failureText, refusalText, toFailure } from '../words/failure.ts';
import { plural } from '../words/format.ts';
import { decisionText } from '../words/labels.ts';
import { policyTitle } from './policy-list.tsx';
import { addOwnDecision, countDecided } from './undo.ts';

const MAX_IN_BATCH = 100;

export interface Batch {
  action: Action;
  items: Item[];
  /** How many notes were chosen beyond the items, such as '3 selected notes'; null if none. */
  leftOut: string | null;
  sending: boolean;
}

export const batchState = createState({ view: { batch: null as Batch | null } });

export const closeBatch = (): void => batchState.set({ batch: null });

const selectedNotes = (): Item[] => {
  const { items, selected } = queueState();
  return items.filter((item) => isNote(item) && selected.has(item.id));
};

/** The first of these actions that at least one selected note allows. */
export const batchAction = (actions: readonly Action[]): Action | undefined =>
  actions.find((one) => selectedNotes().some((item) => item.allowed_actions.includes(one)));

/** Opens the preview of a batch, which runs only after confirmation. */
export function openBatchPreview(actions: readonly Action[]): void {
  if (queueState().selected.size === 0) {
    showToast('Nothing is selected. Press x to select a note.');
    return;
  }
  const notes = selectedNotes();
  const action = batchAction(actions);
  if (!action) {
    showToast('None of the selected notes allows this.');
    return;
  }
  preview(action, notes, (count) => plural(count, 'selected note'));
}

/** Opens the preview with the notes that allow the action; the rest is left out. */
function preview(
  action: Action,
  notes: readonly Item[],
  leftOutText: (count: number) => string,
): void {
  const allowed = notes.filter((item) => item.allowed_actions.includes(action));
  const items = allowed.slice(0, MAX_IN_BATCH);
  const left = notes.length - items.length;
  batchState.set({
    batch: { action, items, leftOut: left > 0 ? leftOutText(left) : null, sending: false },
  });
}

/** A page without a note ends the search only after so many. */
const MAX_PAGES = 25;

/** Opens the preview of a batch that rejects all waiting notes of a member. */
export const rejectAllBy = (memberId: string): Promise<void> =>
  decideAll('reject', { author: memberId });

/** Opens the preview of a batch for all waiting notes that a filter finds. */
export async function decideAll(
  action: 'approve' | 'reject',
  filter: Readonly<Record<string, string>>,
): Promise<void> {
  const notes: Item[] = [];
  let cursor: string | null = null;
  let turn = 0;
  try {
    do {
      const query = new URLSearchParams({ view: 'todo', ...filter, limit: '100' });
      if (cursor) query.set('cursor', cursor);
      const page: QueueBody = await call<QueueBody>('GET', `queue?${query}`);
      notes.push(...page.items.map(withItemId).filter(isNote));
      cursor = page.next_cursor;
    } while (cursor && notes.length <= MAX_IN_BATCH && ++turn < MAX_PAGES);
  } catch (error) {
    showToast(refusalText('Nothing was decided', 'batch', toFailure(error)), { tone: 'alert' });
    return;
  }
  if (notes.some((item) => item.allowed_actions.includes(action)))
    preview(action, notes, (count) => `${plural(count, 'note')}${cursor ? ' or more' : ''}`);
  else
    showToast(`None of these notes can be ${action === 'reject' ? 'rejected' : 'approved'} now.`);
}

/** Sends the previewed batch. Refused notes stay in the list, with the reason. */
export async function runBatch(policy?: string): Promise<void> {
  const { batch } = batchState();
  if (!batch || batch.sending) return;
  batchState.set({ batch: { ...batch, sending: true } });
  const { action, items } = batch;
  const counted = countState().counts;
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
    const last = items.findLast(({ id }) => findItem(id))?.id ?? '';
    for (const { id } of items)
      setMark(id, sentState().marks.get(id) ?? { kind: 'deciding', action });
    const next = decided.some(({ note_id }) => note_id === placeState().focusId)
      ? nextAfter(last)
      : placeState().focusId;
    const ids = new Set(decided.map(({ note_id }) => note_id));
    countDecided(
      items.filter(({ id }) => ids.has(id)),
      action,
      counted,
    );
    for (const { note_id } of decided) {
      setMark(note_id, undefined);
      deleteLease(note_id);
      removeDecided(note_id);
    }
    closeBatch();
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
    closeBatch();
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
  if (queueState().selected.has(itemId)) toggleSelection(itemId);
  void refreshItem(itemId);
}
