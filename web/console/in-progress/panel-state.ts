import { createState, withEntry } from '../session/store.ts';
import type { Action } from '../words/api-model.ts';
import { release } from './leases.ts';

/** The panel for the input that a decision still needs. */
export interface Panel {
  action: Action;
  itemId: string;
  /** Opening the panel claimed the item, so closing the panel releases the claim. */
  claimedHere: boolean;
  /** The prepared messages are shown, and digits choose among them. */
  prepared: boolean;
  sending: boolean;
  fault: string | null;
}

export const panelState = createState({
  session: {
    panel: null as Panel | null,
    /** Typed text by item and reader, kept until a decision is accepted. */
    drafts: new Map() as ReadonlyMap<string, string>,
  },
});

export const showPanel = (panel: Panel): void => panelState.set({ panel });

export function changePanel(itemId: string, change: Partial<Panel>): void {
  const { panel } = panelState();
  if (panel?.itemId === itemId) panelState.set({ panel: { ...panel, ...change } });
}

/** Removes the panel of an item after its decision was sent; its claim is not released. */
export function removePanel(itemId: string): void {
  if (panelState().panel?.itemId === itemId) panelState.set({ panel: null });
}

/** Closes the panel and releases the claim that it made, unless its decision is in flight. */
export function leavePanel(): void {
  const { panel } = panelState();
  panelState.set({ panel: null });
  if (panel?.claimedHere && !panel.sending) void release(panel.itemId);
}

/** A typed text that was not sent yet, such as a comment. */
export const readDraft = (slot: string): string => panelState().drafts.get(slot) ?? '';

export function saveDraft(slot: string, text: string): void {
  panelState.set({
    drafts: withEntry(panelState().drafts, slot, text === '' ? undefined : text),
  });
}

/** Who reads the text typed with an action. Drafts are kept apart by reader. */
const READERS: Partial<Record<Action, 'author' | 'lead'>> = {
  reject: 'author',
  remove: 'author',
  uphold: 'author',
  escalate: 'lead',
};

export const takesMessage = (action: Action): boolean => READERS[action] !== undefined;

const slotOf = (id: string, action: Action): string => `${id} ${READERS[action]}`;

export const getDraft = (id: string, action: Action): string => readDraft(slotOf(id, action));

export const setDraft = (id: string, action: Action, text: string): void =>
  saveDraft(slotOf(id, action), text);

export const hasDraft = (id: string): boolean =>
  getDraft(id, 'reject') !== '' || getDraft(id, 'escalate') !== '';

/** Deletes both drafts of an item, for the author and for a lead. */
export function deleteDrafts(id: string): void {
  setDraft(id, 'reject', '');
  setDraft(id, 'escalate', '');
}
