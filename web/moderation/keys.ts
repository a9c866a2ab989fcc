import { serviceNow } from '../shared/clock.ts';
import { isComposing } from '../shared/composing.ts';
import { preview, runBatch } from './batches.ts';
import { begin, closePanel, finish, NO, YES } from './begin.ts';
import { claimNext } from './claims.ts';
import { release } from './leases.ts';
import { leaveNote } from './opened.ts';
import { activePolicies } from './policy-list.ts';
import { focusOn, move } from './queue.ts';
import { select } from './selection.ts';
import { type Batch, get, say, set } from './state.ts';
import { undo } from './undo.ts';
import { isList } from './wire.ts';

/** All keyboard shortcuts, in the order of the help. */
export const KEYS = [
  ['j / k', 'next or previous item'],
  ['n', 'claim the next item'],
  ['a', 'approve (or keep, grant, restore)'],
  ['r, then 1–9', 'reject (or remove) under a policy'],
  ['e', 'escalate'],
  ['d', 'defer; d again defers for 1 day'],
  ['x', 'select'],
  ['Shift+A / Shift+R', 'approve or reject the selection'],
  ['u', 'undo'],
  ['t', 'go to the thread'],
  ['/', 'search'],
  ['?', 'this help'],
  ['Esc', 'close or release'],
] as const;

export const DEFERRALS = [
  [1, '1 hour'],
  [4, '4 hours'],
  [24, '1 day'],
  [72, '3 days'],
] as const;

export const inHours = (hours: number): string =>
  // One minute less, to stay within the maximum of 72 hours if the clocks differ by seconds.
  new Date(serviceNow() + hours * 3_600_000 - 60_000).toISOString();

const TYPING = 'textarea, select, [contenteditable], input:not([type=checkbox]):not([type=radio])';

/** Maps letters and digits of other scripts to the same key of a Latin keyboard. */
function keyOf({ key, code, shiftKey }: KeyboardEvent): string {
  if (!/^(?!\p{Script=Latin}|[0-9])[\p{L}\p{Nd}]$/u.test(key)) return key;
  const [, place = key] = /^(?:Key|Digit)(.)$/.exec(code) ?? [];
  return shiftKey ? place : place.toLowerCase();
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || isComposing(event)) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { session, help, batch, keys } = get();
  // Dialogs handle their own keys; the batch dialog also takes digits, wherever its focus is.
  if (session !== 'in' || help) return;
  if (batch) {
    if (keys && !event.repeat && pressDigitOn(batch, keyOf(event))) event.preventDefault();
    return;
  }
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(TYPING)) {
    if (event.key === 'Escape') leaveField(target);
    return;
  }
  if (event.key === 'Escape') {
    pressEscape(keys);
    return;
  }
  if (!keys) return;
  const key = keyOf(event);
  // A held key repeats only moves, so that it cannot decide on one item after the other.
  if (event.repeat && key !== 'j' && key !== 'k') return;
  if (press(key)) event.preventDefault();
}

/** Escape first leaves the field, which keeps its text. */
function leaveField(field: Element): void {
  const panel = field.closest<HTMLElement>('[data-panel]');
  if (panel) panel.focus();
  else focusOn(get().focusId);
}

/** Closes the panel, else releases the lease, else leaves the item; with keys off, panel only. */
function pressEscape(keys: boolean): void {
  const { panel, open, focusId } = get();
  if (panel) closePanel();
  else if (!keys) return;
  else if (focusId && get().leases.has(focusId)) {
    void release(focusId);
    say('Released.');
  } else if (open) leaveNote();
}

/** Focuses after the redraw but before the next key, which would otherwise run a shortcut. */
const focusDrawn = (id: string): void => queueMicrotask(() => document.getElementById(id)?.focus());

function press(key: string): boolean {
  if (/^[1-9]$/.test(key)) return pressDigit(Number(key));
  if (key === '?') {
    set({ help: true });
    return true;
  }
  if (key === 'u') {
    undo();
    return true;
  }
  if (!isList(get().view)) return false;
  switch (key) {
    case 'j':
    case 'k':
      move(key === 'j' ? 1 : -1);
      return true;
    case 'n':
      void claimNext();
      return true;
    case 'a':
      begin(YES);
      return true;
    case 'r':
      begin(NO);
      return true;
    case 'e':
      begin(['escalate']);
      return true;
    case 'd':
      if (get().panel?.action === 'defer') finish({ until: inHours(24) });
      else begin(['defer']);
      return true;
    case 'x':
      select(get().focusId);
      return true;
    case 'A':
      preview(YES);
      return true;
    case 'R':
      preview(NO);
      return true;
    case 't':
      set({ open: true });
      focusDrawn('thread');
      return true;
    case '/':
      set({ open: false });
      focusDrawn('search');
      return true;
    default:
      return false;
  }
}

function pressDigitOn({ action }: Batch, key: string): boolean {
  const policy =
    action === 'reject' || action === 'remove' ? activePolicies()[+key - 1] : undefined;
  if (policy) void runBatch(policy.code);
  return policy !== undefined;
}

function pressDigit(digit: number): boolean {
  const { panel } = get();
  if (panel?.action === 'reject' || panel?.action === 'remove') {
    const policy = activePolicies()[digit - 1];
    if (policy) finish({ policy: policy.code });
    return true;
  }
  if (panel?.action !== 'defer') return false;
  const choice = DEFERRALS[digit - 1];
  if (choice) finish({ until: inHours(choice[0]) });
  return true;
}

export function listenToKeys(): void {
  document.addEventListener('keydown', onKey);
}
