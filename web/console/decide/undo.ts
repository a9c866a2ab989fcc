import { randomUuid } from '../../shared/random.ts';
import { decisionsSettled, forgetDecision, setMark } from '../in-progress/sent.ts';
import { addDecided } from '../queue/counts.ts';
import { showArrivals } from '../queue/list-changes.ts';
import { focusOn, nextAfter, refreshList, removeDecided } from '../queue/queue.ts';
import { currentItem, findItem, placeState, queueState, select } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import { messageState, showToast, type Undoable } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { createState } from '../session/store.ts';
import type { Action, BatchResult, Counts, Decided, Item, View } from '../words/api-model.ts';
import { type Failure, refusalText, toFailure } from '../words/failure.ts';
import { plural } from '../words/format.ts';
import { toQuote } from '../words/labels.ts';

export type OwnDecision = Undoable | { kind: 'final'; words: string; about: string };

export const decisionState = createState({
  session: {
    /** Decisions made here, the latest last. */
    ownDecisions: [] as readonly OwnDecision[],
    /** How many were made since signing in, those that were undone included. */
    made: 0,
  },
});

export function addOwnDecision(decision: OwnDecision): void {
  decisionState.set({ ownDecisions: [...decisionState().ownDecisions, decision] });
}

function removeOwnDecision(decision: OwnDecision): void {
  const same = (one: OwnDecision) =>
    one === decision ||
    (one.kind === 'item' && decision.kind === 'item' && one.eventId === decision.eventId);
  decisionState.set({ ownDecisions: decisionState().ownDecisions.filter((one) => !same(one)) });
}

/** Counts own decisions on items of the current list; `before` as for `addDecided`. */
export function countDecided(items: readonly Item[], action: Action, before: Counts | null): void {
  decisionState.set({ made: decisionState().made + items.length });
  addDecided(items, action, before);
}

/** The item's current decision, if the moderator can undo it. */
export function toUndoable(item: Item): Undoable | undefined {
  if (!item.decision?.undo_allowed) return undefined;
  const { id: itemId, version, decision } = item;
  const about = toQuote(item);
  return { kind: 'item', itemId, eventId: decision.event_id, version, about, key: randomUuid() };
}

/** Whether the undo key of a view applies to the current item, unless a toast offers an undo. */
export const undoesCurrentItem = (view: View): boolean => view === 'decided' || view === 'deferred';

let undoing: Promise<unknown> = Promise.resolve();

/** Runs undos in sequence, after the answers to all decisions, which determine what is undone. */
export function runInSequence(work: () => Promise<void>): void {
  const turn = undoing.then(decisionsSettled).then(work);
  undoing = Promise.allSettled([turn]);
}

export const startUndo = (what: Undoable): void => runInSequence(() => sendUndo(what));

/** Undoes the toast's decision, or else the current item's, or else the latest one made here. */
export const undo = (): void =>
  runInSequence(async () => {
    const { toast: shownToast } = messageState();
    const { view } = placeState();
    const item = undoesCurrentItem(view) ? currentItem() : undefined;
    const what =
      shownToast?.undo ?? (item && toUndoable(item)) ?? decisionState().ownDecisions.at(-1);
    if (!what) showToast('There is nothing to undo.');
    else if (what.kind === 'final') {
      removeOwnDecision(what);
      showToast(`Cannot be undone: ${what.words}`, { about: what.about });
    } else await sendUndo(what);
  });

async function sendUndo(what: Undoable): Promise<void> {
  try {
    if (what.kind === 'item') await undoOne(what);
    else await undoBatch(what);
    removeOwnDecision(what);
  } catch (error) {
    const failure = toFailure(error);
    const final = isFinal(failure);
    if (final) removeOwnDecision(what);
    showToast(refusalText('Not undone', 'undo', failure), {
      tone: 'alert',
      about: what.about,
      undo: final ? null : what,
    });
  }
}

/** Whether the refusal is final. After other failures the outcome is unknown: allow a retry. */
const isFinal = ({ status }: Failure): boolean => status >= 400 && status < 500 && status !== 429;

/** Undoes one decision, and forgets that this console made it. Fails if it is refused. */
export async function undoDecision(one: Extract<Undoable, { kind: 'item' }>): Promise<void> {
  const { itemId, eventId, version, key } = one;
  await call<Decided>('POST', `decisions/${eventId}/undo`, { expected_version: version }, key);
  forgetDecision(itemId);
  setMark(itemId, undefined);
}

async function undoOne(one: Extract<Undoable, { kind: 'item' }>): Promise<void> {
  const { itemId, about } = one;
  const { focusId: before } = placeState();
  await undoDecision(one);
  const left = decisionOfView(itemId);
  if (left) {
    if (before === itemId) focusOn(nextAfter(itemId));
    removeDecided(itemId);
  }
  await refreshList({ whole: true });
  showArrivals();
  showToast(left === 'deferred' ? 'Brought back:' : 'Undone:', { about });
  const { focusId } = placeState();
  // Keep the focus if the moderator has moved to another item meanwhile.
  if (findItem(itemId) && (focusId === before || !before)) focusOn(itemId);
}

/** The decision that put the item into the current view, if its undo removes the item again. */
function decisionOfView(itemId: string): 'deferred' | 'escalated' | undefined {
  const { view } = placeState();
  const decision = findItem(itemId)?.decision?.decision;
  return (decision === 'deferred' || decision === 'escalated') && decision === view
    ? decision
    : undefined;
}

async function undoBatch(batch: Extract<Undoable, { kind: 'batch' }>): Promise<void> {
  const { batchId, words, key } = batch;
  const { focusId: before } = placeState();
  const results = await undoWholeBatch(batchId, key);
  // The undo of a rewind decides again.
  const undone = results.filter(({ status }) => status === 'undone' || status === 'decided');
  for (const { note_id } of undone) forgetDecision(note_id);
  await refreshList({ whole: true });
  showArrivals();
  const rest = results.length - undone.length;
  showToast(`Undone: ${words}${rest ? `; ${plural(rest, 'note')} could not be undone` : ''}`, {
    tone: rest ? 'alert' : 'plain',
  });
  const { focusId } = placeState();
  const first = undone.find(({ note_id }) => findItem(note_id));
  // Keep the focus if the moderator has moved to another item meanwhile.
  if (first && (focusId === before || !focusId)) focusOn(first.note_id);
}

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

export type Paged = { next_cursor: string | null };

export const cursorOf = (place: Paged | undefined) =>
  place?.next_cursor ? { cursor: place.next_cursor } : {};

/** Undoes a batch, page by page; one request is enough unless it was a large rewind. */
async function undoWholeBatch(batchId: string, key: string): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  let place: Paged | undefined;
  do {
    const body = cursorOf(place);
    const page: Paged & { results: BatchResult[] } = await call(
      'POST',
      `batches/${batchId}/undo`,
      body,
      place ? undefined : key,
    );
    results.push(...page.results);
    place = page;
  } while (place.next_cursor);
  return results;
}
