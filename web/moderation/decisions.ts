import { call, type Failure, failureOf } from './api.ts';
import { claimThis, drop, leaseOn, release } from './leases.ts';
import { decidedHere, focusOn, nextAfter, refresh, reread, select, settle } from './queue.ts';
import { current, draft, get, itemOf, listView, mark, type Panel, set, toast } from './state.ts';
import type { Action, BatchResult, Decided, Item } from './wire.ts';
import { ACTION_NAMES, doneWords, failureWords, plural } from './words.ts';

type Said = { policy?: string; message?: string; until?: string };

type Undoable =
  | { kind: 'note'; noteId: string; eventId: string; version: number; words: string }
  | { kind: 'batch'; batchId: string; words: string };

const undoable: Undoable[] = [];
/** Decisions that are on their way: an undo waits for them. */
let underWay: Promise<unknown> = Promise.resolve();

/** Actions that need a word or a choice before they are sent. */
const WITH_PANEL: readonly Action[] = ['reject', 'remove', 'escalate', 'defer', 'uphold'];

/** What `a` and `r` mean for a note: to let it stand, or not. */
export const YES: readonly Action[] = ['approve', 'grant', 'keep', 'restore'];
export const NO: readonly Action[] = ['reject', 'uphold', 'remove'];

export const firstAllowed = (item: Item, actions: readonly Action[]): Action | undefined =>
  actions.find((action) => item.allowed_actions.includes(action));

/** Begins an action on the present note: at once, or with the panel that asks for the rest. */
export function begin(action: Action | undefined): void {
  const item = current();
  if (!item || get().marks.get(item.id)?.kind === 'deciding') return;
  if (!action || !item.allowed_actions.includes(action)) {
    toast(action ? `${ACTION_NAMES[action]} is not possible here.` : 'Not possible here.');
    return;
  }
  if (WITH_PANEL.includes(action)) void openPanel(item, action);
  else void decide(item, action);
}

async function openPanel(item: Item, action: Action): Promise<void> {
  const held = leaseOn(item.id) !== undefined;
  set({
    open: true,
    panel: { action, noteId: item.id, claimedHere: !held, sending: false, fault: null },
  });
  if (held) return;
  // Whoever begins to write about a note holds it, so that nobody else writes about it too.
  const failure = await claimThis(item.id);
  if (!failure || failure.reason === 'claim_limit') {
    if (failure) changePanel(item.id, { claimedHere: false });
    else if (get().panel?.noteId !== item.id && !get().marks.has(item.id)) void release(item.id);
    return;
  }
  changePanel(item.id, { claimedHere: false });
  if (failure.status === 409) {
    mark(item.id, { kind: 'conflict', text: failureWords(failure) });
    toast(failureWords(failure), { tone: 'alert' });
  }
}

function changePanel(noteId: string, change: Partial<Panel>): void {
  const { panel } = get();
  if (panel?.noteId === noteId) set({ panel: { ...panel, ...change } });
}

export function closePanel(): void {
  const { panel } = get();
  if (!panel) return;
  set({ panel: null });
  if (panel.claimedHere) void release(panel.noteId);
  focusOn(panel.noteId);
}

/** What the panel was filled in with. With words of one's own the note waits for the answer. */
export function finish(said: Said): void {
  const { panel } = get();
  const item = itemOf(panel?.noteId ?? null);
  if (!panel || !item || panel.sending) return;
  const message = get().drafts.get(item.id)?.trim();
  void decide(item, panel.action, { ...said, ...(message ? { message } : {}) });
}

export function decide(item: Item, action: Action, said: Said = {}): Promise<void> {
  const sent = send(item, action, said);
  underWay = Promise.allSettled([underWay, sent]).then(() => undefined);
  return sent;
}

async function send(item: Item, action: Action, said: Said): Promise<void> {
  const { id, version } = item;
  const typed = said.message !== undefined;
  mark(id, { kind: 'deciding', action });
  decidedHere.add(id);
  if (typed) changePanel(id, { sending: true, fault: null });
  else moveOn(id);
  try {
    const answer = await call<Decided>('POST', `notes/${id}/decisions`, {
      action,
      expected_version: version,
      ...said,
    });
    if (typed) moveOn(id);
    mark(id, undefined);
    drop(id);
    draft(id, '');
    settle(id);
    const words = doneWords(action, said.policy && titleOf(said.policy));
    const canUndo = answer.undo_until !== null;
    if (canUndo)
      undoable.push({
        kind: 'note',
        noteId: id,
        eventId: answer.event_id,
        version: answer.version,
        words,
      });
    toast(words, { undo: canUndo });
  } catch (error) {
    decidedHere.delete(id);
    refused(id, action, failureOf(error));
  }
}

/** The focus goes on before the answer is there; only what was typed waits for it. */
function moveOn(id: string): void {
  const { panel } = get();
  if (panel?.noteId === id) set({ panel: null });
  if (get().focusId === id) focusOn(nextAfter(id));
}

/** Nothing of it is lost: the row says why, and what was typed stands where it was. */
function refused(id: string, action: Action, failure: Failure): void {
  const text = `Not ${doneWords(action).toLowerCase()}. ${failureWords(failure)}`;
  mark(id, { kind: 'conflict', text });
  changePanel(id, { sending: false, fault: text });
  toast(text, { tone: 'alert' });
  if (failure.status === 409) void reread(id);
}

const titleOf = (code: string): string =>
  get()
    .policies.find((policy) => policy.code === code)
    ?.title.toLowerCase() ?? code;

/** The last decision of this console; among what is decided, that of the present note. */
export async function undo(): Promise<void> {
  await underWay;
  const item = current();
  const decision = listView() === 'decided' && get().view === 'decided' ? item?.decision : null;
  if (item && decision?.undo_allowed) {
    const words = doneWords('approve');
    await undoOne({
      kind: 'note',
      noteId: item.id,
      eventId: decision.event_id,
      version: item.version,
      words,
    });
    return;
  }
  const last = undoable.pop();
  if (!last) {
    toast('There is nothing to undo.');
    return;
  }
  if (last.kind === 'note') await undoOne(last);
  else await undoBatch(last);
}

async function undoOne(one: Extract<Undoable, { kind: 'note' }>): Promise<void> {
  try {
    await call<Decided>('POST', `decisions/${one.eventId}/undo`, { expected_version: one.version });
    decidedHere.delete(one.noteId);
    mark(one.noteId, undefined);
    await refresh();
    toast('Undone: it is as it was before');
    if (itemOf(one.noteId)) focusOn(one.noteId);
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
    for (const { note_id } of undone) decidedHere.delete(note_id);
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

const MOST_IN_BATCH = 100;

/** Shows what a batch would do; nothing runs before it is confirmed. */
export function preview(actions: readonly Action[]): void {
  const { items, selected } = get();
  if (selected.size === 0) {
    toast('Nothing is selected. Select with x.');
    return;
  }
  const chosen = items.filter(({ id }) => selected.has(id));
  const action = actions.find((one) => chosen.some((item) => item.allowed_actions.includes(one)));
  if (!action) {
    toast('None of the selected notes allows this.');
    return;
  }
  const fit = chosen.filter((item) => item.allowed_actions.includes(action));
  set({ batch: { action, items: fit.slice(0, MOST_IN_BATCH), sending: false } });
}

export async function runBatch(policy?: string): Promise<void> {
  const { batch } = get();
  if (!batch || batch.sending) return;
  set({ batch: { ...batch, sending: true } });
  const { action, items } = batch;
  for (const { id } of items) decidedHere.add(id);
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
    for (const { note_id, error, status } of failed) keepBack(note_id, error?.reason ?? status);
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
    if (done.length > 0) undoable.push({ kind: 'batch', batchId: batch_id, words });
    toast(failed.length ? `${words}; ${plural(failed.length, 'note')} refused` : words, {
      undo: done.length > 0,
      tone: failed.length ? 'alert' : 'plain',
    });
  } catch (error) {
    for (const { id } of items) decidedHere.delete(id);
    set({ batch: null });
    toast(`Nothing was decided. ${failureWords(failureOf(error))}`, { tone: 'alert' });
  }
}

const REFUSED: Record<string, string> = {
  claimed_by_other: 'Another moderator is working on this.',
  version_mismatch: 'It has changed since you saw it.',
  wrong_state: 'It was decided meanwhile.',
  parent_not_public: 'The note that it replies to is not public.',
};

function keepBack(noteId: string, reason: string): void {
  decidedHere.delete(noteId);
  mark(noteId, { kind: 'conflict', text: REFUSED[reason] ?? reason.replaceAll('_', ' ') });
  if (get().selected.has(noteId)) select(noteId);
  void reread(noteId);
}
