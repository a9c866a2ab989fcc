import { call, failureOf } from './api.ts';
import { notDecidedHere } from './decided-here.ts';
import { focusOn, refresh } from './queue.ts';
import { current, get, itemOf, mark, toast } from './state.ts';
import { decisionsAnswered } from './under-way.ts';
import type { BatchResult, Decided } from './wire.ts';
import { failureWords, plural } from './words.ts';

type Undoable =
  | { kind: 'item'; itemId: string; eventId: string; version: number }
  | { kind: 'batch'; batchId: string; words: string };

const undoable: Undoable[] = [];

export function canBeUndone(decided: Undoable): void {
  undoable.push(decided);
}

/** The last decision of this console; among what is decided, that of the present note. */
export async function undo(): Promise<void> {
  await decisionsAnswered();
  const item = current();
  const decision = get().view === 'decided' ? item?.decision : null;
  if (item && decision?.undo_allowed) {
    const { event_id: eventId } = decision;
    await undoOne({ kind: 'item', itemId: item.id, eventId, version: item.version });
    return;
  }
  const last = undoable.pop();
  if (!last) {
    toast('There is nothing to undo.');
    return;
  }
  if (last.kind === 'item') await undoOne(last);
  else await undoBatch(last);
}

async function undoOne(one: Extract<Undoable, { kind: 'item' }>): Promise<void> {
  try {
    await call<Decided>('POST', `decisions/${one.eventId}/undo`, { expected_version: one.version });
    notDecidedHere(one.itemId);
    mark(one.itemId, undefined);
    await refresh();
    toast('Undone: it is as it was before');
    if (itemOf(one.itemId)) focusOn(one.itemId);
  } catch (error) {
    toast(`Not undone. ${failureWords(failureOf(error))}`, { tone: 'alert' });
  }
}

async function undoBatch({ batchId, words }: Extract<Undoable, { kind: 'batch' }>): Promise<void> {
  try {
    const { results } = await call<{ results: BatchResult[] }>(
      'POST',
      `batches/${batchId}/undo`,
      {},
    );
    const undone = results.filter(({ status }) => status === 'undone');
    for (const { note_id } of undone) notDecidedHere(note_id);
    await refresh();
    const rest = results.length - undone.length;
    toast(`Undone: ${words}${rest ? `; ${plural(rest, 'note')} could not be undone` : ''}`, {
      tone: rest ? 'alert' : 'plain',
    });
    focusOn(get().focusId ?? undone[0]?.note_id ?? null);
  } catch (error) {
    toast(`Not undone. ${failureWords(failureOf(error))}`, { tone: 'alert' });
  }
}
