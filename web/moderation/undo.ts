import { randomUuid } from '../shared/random.ts';
import { call, type Failure, failureOf } from './api.ts';
import { notDecidedHere } from './decided-here.ts';
import { focusOn, nextAfter, refresh, settle } from './queue.ts';
import { current, type Done, get, itemOf, mark, set, toast, type Undoable } from './state.ts';
import { decisionsAnswered } from './under-way.ts';
import type { BatchResult, Decided, Item, View } from './wire.ts';
import { aboutOf, plural, refusalWords } from './words.ts';

export function remember(what: Done): void {
  set({ done: [...get().done, what] });
}

function forget(what: Done): void {
  const same = (one: Done) =>
    one === what || (one.kind === 'item' && what.kind === 'item' && one.eventId === what.eventId);
  set({ done: get().done.filter((one) => !same(one)) });
}

/** The item's current decision, if the moderator can undo it. */
export function undoableOf(item: Item): Undoable | undefined {
  if (!item.decision?.undo_allowed) return undefined;
  const { id: itemId, version, decision } = item;
  const about = aboutOf(item);
  return { kind: 'item', itemId, eventId: decision.event_id, version, about, key: randomUuid() };
}

/** Whether the undo key of a view applies to the current item, unless a toast offers an undo. */
export const undoesCurrent = (view: View): boolean => view === 'decided' || view === 'deferred';

let undoing: Promise<unknown> = Promise.resolve();

/** Runs undos in sequence, after the answers to all decisions, which determine what is undone. */
function inTurn(work: () => Promise<void>): void {
  const turn = undoing.then(decisionsAnswered).then(work);
  undoing = Promise.allSettled([turn]);
}

export const undoThis = (what: Undoable): void => inTurn(() => send(what));

/** Undoes the toast's decision, or else the current item's, or else the latest one made here. */
export const undo = (): void =>
  inTurn(async () => {
    const { toast: told, view } = get();
    const item = undoesCurrent(view) ? current() : undefined;
    const what = told?.undo ?? (item && undoableOf(item)) ?? get().done.at(-1);
    if (!what) toast('There is nothing to undo.');
    else if (what.kind === 'final') {
      forget(what);
      toast(`Cannot be undone: ${what.words}`, { about: what.about });
    } else await send(what);
  });

async function send(what: Undoable): Promise<void> {
  try {
    if (what.kind === 'item') await undoOne(what);
    else await undoBatch(what);
    forget(what);
  } catch (error) {
    const failure = failureOf(error);
    const final = isFinal(failure);
    if (final) forget(what);
    toast(refusalWords('Not undone', 'undo', failure), {
      tone: 'alert',
      about: what.about,
      undo: final ? null : what,
    });
  }
}

/** Whether the refusal is final. After other failures the outcome is unknown: allow a retry. */
const isFinal = ({ status }: Failure): boolean => status >= 400 && status < 500 && status !== 429;

async function undoOne(one: Extract<Undoable, { kind: 'item' }>): Promise<void> {
  const { itemId, eventId, version, about, key } = one;
  const { focusId: before } = get();
  await call<Decided>('POST', `decisions/${eventId}/undo`, { expected_version: version }, key);
  notDecidedHere(itemId);
  mark(itemId, undefined);
  const left = leftBy(itemId);
  if (left) {
    if (before === itemId) focusOn(nextAfter(itemId));
    settle(itemId);
  }
  await refresh();
  toast(left === 'deferred' ? 'Brought back:' : 'Undone:', { about });
  const { focusId } = get();
  // Keep the focus if the moderator has moved to another item meanwhile.
  if (itemOf(itemId) && (focusId === before || !before)) focusOn(itemId);
}

/** The decision that put the item into the current view, if its undo removes the item again. */
function leftBy(itemId: string): 'deferred' | 'escalated' | undefined {
  const { view } = get();
  const decision = itemOf(itemId)?.decision?.decision;
  return (decision === 'deferred' || decision === 'escalated') && decision === view
    ? decision
    : undefined;
}

async function undoBatch(batch: Extract<Undoable, { kind: 'batch' }>): Promise<void> {
  const { batchId, words, key } = batch;
  const path = `batches/${batchId}/undo`;
  const { results } = await call<{ results: BatchResult[] }>('POST', path, {}, key);
  const undone = results.filter(({ status }) => status === 'undone');
  for (const { note_id } of undone) notDecidedHere(note_id);
  await refresh();
  const rest = results.length - undone.length;
  toast(`Undone: ${words}${rest ? `; ${plural(rest, 'note')} could not be undone` : ''}`, {
    tone: rest ? 'alert' : 'plain',
  });
  focusOn(get().focusId ?? undone[0]?.note_id ?? null);
}
