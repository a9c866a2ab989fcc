import { isComposing } from '../../shared/field.tsx';
import { claimNext } from '../claims/claims.ts';
import { type Batch, batchState, openBatchPreview, runBatch } from '../decide/batches.ts';
import {
  closePanel,
  DEFERRALS,
  hoursFromNow,
  PUBLISHING_ACTIONS,
  REMOVING_ACTIONS,
  startAction,
  submitPanel,
} from '../decide/decisions.ts';
import { membershipState } from '../decide/membership-dialog.tsx';
import { activePolicies } from '../decide/policy-list.tsx';
import { insertPrepared, togglePrepared } from '../decide/prepared-messages.ts';
import { undo } from '../decide/undo.ts';
import { leaseState, release } from '../in-progress/leases.ts';
import { panelState } from '../in-progress/panel-state.ts';
import { drawerState, showDrawer } from '../item/author-drawer.tsx';
import { reveal } from '../item/shielded.tsx';
import { savedViewState, showSavedView } from '../list/saved-views.ts';
import { leaveItem, showView } from '../queue/navigation.ts';
import { focusOn, moveFocus } from '../queue/queue.ts';
import { currentItem, placeState, setOpen, toggleSelection } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import { announce } from '../session/messages.ts';
import { changeSetting, settingsState } from '../session/settings.ts';
import { createState } from '../session/store.ts';
import { isList, type ListView } from '../words/api-model.ts';

export const helpState = createState({ view: { help: false } });

export const showHelp = (help: boolean): void => helpState.set({ help });

/** All keyboard shortcuts, in the order of the help. */
export const SHORTCUTS = [
  ['j / k', 'next or previous item'],
  ['n', 'claim the next item'],
  ['a', 'approve (or keep, grant, restore)'],
  ['r, then 1–9', 'reject (or remove) under a policy'],
  ['r, m, then 1–9', 'insert a prepared message'],
  ['e', 'escalate'],
  ['d', 'defer; d again defers for 1 day'],
  ['x', 'select'],
  ['Shift+A / Shift+R', 'approve or reject the selection'],
  ['u', 'undo'],
  ['c', 'comment, for moderators only'],
  ['h', 'more by the same author'],
  ['v', 'show a text with abusive words'],
  ['t', 'go to the thread'],
  ['/', 'search'],
  ['g, then t m e f r a d', 'go to a view, such as To do'],
  ['g, then s', 'search everything: all views, records and decisions'],
  ['g, then 1–9', 'go to a saved view'],
  ['?', 'this help'],
  ['Esc', 'close or release'],
] as const;

const TEXT_FIELDS =
  'textarea, select, [contenteditable], input:not([type=checkbox]):not([type=radio])';

/** Maps letters and digits of other scripts to the same key of a Latin keyboard. */
function toLatinKey({ key, code, shiftKey }: KeyboardEvent): string {
  if (!/^(?!\p{Script=Latin}|[0-9])[\p{L}\p{Nd}]$/u.test(key)) return key;
  const [, place = key] = /^(?:Key|Digit)(.)$/.exec(code) ?? [];
  return shiftKey ? place : place.toLowerCase();
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || isComposing(event)) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { session } = connectionState();
  const { help } = helpState();
  const { batch } = batchState();
  const { membership } = membershipState();
  const { keys } = settingsState();
  // Dialogs handle their own keys; the batch dialog also takes digits, wherever its focus is.
  if (session !== 'in' || help || membership) return;
  if (batch) {
    if (keys && !event.repeat && pressBatchDigit(batch, toLatinKey(event))) event.preventDefault();
    return;
  }
  const target = event.target instanceof Element ? event.target : null;
  // A dialog handles its own keys: its checkbox must not decide on the item behind it.
  if (target?.closest('dialog')) return;
  if (target?.closest(TEXT_FIELDS)) {
    if (event.key !== 'Escape') return;
    leaveField(target);
    // Browsers would clear a search field.
    event.preventDefault();
    return;
  }
  if (event.key === 'Escape') {
    pressEscape(keys);
    return;
  }
  if (!keys) return;
  const key = toLatinKey(event);
  // A held key repeats only moves, so that it cannot decide on one item after the other.
  if (event.repeat && key !== 'j' && key !== 'k') return;
  if (press(key)) event.preventDefault();
}

/** Escape first leaves the field, which keeps its text. */
function leaveField(field: Element): void {
  const panel = field.closest<HTMLElement>('[data-panel]');
  if (panel) panel.focus();
  else focusOn(placeState().focusId);
}

/** Closes the panel, else the drawer, else releases the lease, else leaves the item; with keys off, panel only. */
function pressEscape(keys: boolean): void {
  const { panel } = panelState();
  const { open, focusId } = placeState();
  if (panel?.prepared) togglePrepared();
  else if (panel) closePanel();
  else if (drawerState().drawer) toggleDrawer();
  else if (!keys) return;
  else if (focusId && leaseState().leases.has(focusId)) {
    void release(focusId);
    announce('Released.');
  } else if (open) leaveItem();
}

/** The focus follows into the drawer and back to the item's row. */
function toggleDrawer(): void {
  const drawer = !drawerState().drawer;
  if (!drawer) focusOn(placeState().focusId);
  else focusAfterRender('drawer');
  showDrawer(drawer);
  if (drawer) setOpen(true);
}

/** Focuses after the redraw but before the next key, which would otherwise run a shortcut. */
const focusAfterRender = (id: string): void =>
  queueMicrotask(() => document.getElementById(id)?.focus());

/** Views by the key that follows `g`; f is Deferred, because d is Decided. */
const VIEW_KEYS: Readonly<Record<string, ListView>> = {
  t: 'todo',
  m: 'mine',
  e: 'escalated',
  f: 'deferred',
  r: 'reported',
  a: 'appeals',
  d: 'decided',
};

/** Whether the last key was `g`, so that this one names a view. */
let going = false;

function pressAfterGo(key: string): boolean {
  const view = VIEW_KEYS[key];
  const saved = savedViewState().savedViews[Number(key) - 1];
  if (view) showView(view);
  else if (key === 's') {
    showView('search');
    focusAfterRender('search');
  } else if (saved) showSavedView(saved);
  return true;
}

function press(key: string): boolean {
  const goes = going;
  going = key === 'g' && !goes && !panelState().panel;
  if (going) return true;
  // No decision by a key that was meant for a view.
  if (goes) return pressAfterGo(key);
  if (/^[1-9]$/.test(key)) return pressDigit(Number(key));
  if (key === '?') {
    showHelp(true);
    return true;
  }
  if (key === 'u') {
    undo();
    return true;
  }
  if (!isList(placeState().view)) return false;
  switch (key) {
    case 'j':
    case 'k':
      moveFocus(key === 'j' ? 1 : -1);
      return true;
    case 'n':
      void claimNext();
      return true;
    case 'a':
      startAction(PUBLISHING_ACTIONS);
      return true;
    case 'r':
      startAction(REMOVING_ACTIONS);
      return true;
    case 'e':
      startAction(['escalate']);
      return true;
    case 'd':
      if (panelState().panel?.action === 'defer') submitPanel({ until: hoursFromNow(24) });
      else startAction(['defer']);
      return true;
    case 'm':
      return togglePrepared();
    case 'x':
      toggleSelection(placeState().focusId);
      return true;
    case 'A':
      openBatchPreview(PUBLISHING_ACTIONS);
      return true;
    case 'R':
      openBatchPreview(REMOVING_ACTIONS);
      return true;
    case 'c':
      setOpen(true);
      queueMicrotask(() => document.querySelector<HTMLElement>('#comment textarea')?.focus());
      return true;
    case 'v':
      return reveal(currentItem());
    case 'h':
      toggleDrawer();
      return true;
    case 't':
      setOpen(true);
      focusAfterRender('thread');
      return true;
    case '/':
      setOpen(false);
      focusAfterRender('search');
      return true;
    default:
      return false;
  }
}

function pressBatchDigit({ action }: Batch, key: string): boolean {
  const policy =
    action === 'reject' || action === 'remove' ? activePolicies()[+key - 1] : undefined;
  if (policy) void runBatch(policy.code);
  return policy !== undefined;
}

function pressDigit(digit: number): boolean {
  const { panel } = panelState();
  if (panel?.prepared) {
    insertPrepared(digit - 1);
    return true;
  }
  if (panel?.action === 'reject' || panel?.action === 'remove') {
    const policy = activePolicies()[digit - 1];
    if (policy) submitPanel({ policy: policy.code });
    return true;
  }
  if (panel?.action !== 'defer') return false;
  const choice = DEFERRALS[digit - 1];
  if (choice) submitPanel({ until: hoursFromNow(choice[0]) });
  return true;
}

export function listenToKeys(): void {
  document.addEventListener('keydown', onKey);
}

export function switchKeys(on: boolean): void {
  changeSetting('keys', on);
  announce(on ? 'Keyboard shortcuts are on.' : 'Keyboard shortcuts are off.');
}
