import { plainText } from './marked-text.tsx';
import { openStore } from './store.ts';
import type {
  Action,
  Counts,
  Detail,
  Item,
  Lease,
  ListView,
  Moderator,
  Policy,
  View,
} from './wire.ts';
import { isList, LISTS, PAGES } from './wire.ts';

/** What is to be said about a row beyond what the API says of it. */
export type Mark = { kind: 'deciding'; action: Action } | { kind: 'conflict'; text: string };

/** What a decision still wants to know. */
export interface Panel {
  action: Action;
  itemId: string;
  /** The note was claimed by opening this, and is given back when it is closed. */
  claimedHere: boolean;
  sending: boolean;
  fault: string | null;
}

export interface Batch {
  action: Action;
  items: Item[];
  sending: boolean;
}

export interface HeldLease extends Lease {
  /** Claimed by this tab. */
  here: boolean;
  /** The last question before it was heard of: an answer to that or an earlier one knows less. */
  since: number;
  lost: boolean;
}

/** What was decided here and can be taken back. Sent again under its key, it is undone once. */
export type Undoable = { key: string; about: string } & (
  | { kind: 'item'; itemId: string; eventId: string; version: number }
  | { kind: 'batch'; batchId: string; words: string }
);

export type Done = Undoable | { kind: 'final'; words: string; about: string };

export interface Toast {
  text: string;
  /** The beginning of the note that it tells of. */
  about: string;
  undo: Undoable | null;
  tone: 'plain' | 'alert';
}

export interface Filters {
  q: string;
  author: string;
  finding: string;
  older_than: string;
}

export const NO_FILTERS: Filters = { q: '', author: '', finding: '', older_than: '' };

export interface State {
  me: Moderator | null;
  /** `unknown` until the first answer; `lost` keeps everything and asks for the token again. */
  session: 'unknown' | 'out' | 'in' | 'lost';
  view: View;
  filters: Filters;
  items: readonly Item[];
  nextCursor: string | null;
  loading: boolean;
  /** Why the list could not be read. */
  listFault: string | null;
  counts: Counts | null;
  focusId: string | null;
  /** Where there is one column: the note is shown instead of the list. */
  open: boolean;
  selected: ReadonlySet<string>;
  /** By note. */
  leases: ReadonlyMap<string, HeldLease>;
  /** The version that a decision of this console was about, until it is refused or undone. */
  decided: ReadonlyMap<string, number>;
  /** What was done here, the last at the end. */
  done: readonly Done[];
  marks: ReadonlyMap<string, Mark>;
  details: ReadonlyMap<string, Detail>;
  /** What was typed, by note and reader, until a decision is accepted. */
  drafts: ReadonlyMap<string, string>;
  panel: Panel | null;
  batch: Batch | null;
  help: boolean;
  keys: boolean;
  toast: Toast | null;
  /** For the polite live region. */
  said: string;
  stream: 'live' | 'connecting' | 'paused';
  policies: readonly Policy[];
  policiesRead: boolean;
}

export const viewOf = (hash: string): View => {
  const name = hash.replace('#', '');
  return [...LISTS, ...PAGES].find((view) => view === name) ?? 'todo';
};

const KEYS = 'moderation.keys';

/** Whether keys were left on. Where storage is forbidden they are, in each tab anew. */
function keysKept(): boolean {
  try {
    return localStorage.getItem(KEYS) !== 'off';
  } catch {
    return true;
  }
}

export const store = openStore<State>({
  me: null,
  session: 'unknown',
  view: viewOf(location.hash),
  filters: NO_FILTERS,
  items: [],
  nextCursor: null,
  loading: false,
  listFault: null,
  counts: null,
  focusId: null,
  open: false,
  selected: new Set(),
  leases: new Map(),
  decided: new Map(),
  done: [],
  marks: new Map(),
  details: new Map(),
  drafts: new Map(),
  panel: null,
  batch: null,
  help: false,
  keys: keysKept(),
  toast: null,
  said: '',
  stream: 'connecting',
  policies: [],
  policiesRead: false,
});

export const { get, set } = store;

export const current = (): Item | undefined => itemOf(get().focusId);

export const itemOf = (id: string | null): Item | undefined =>
  get().items.find((item) => item.id === id);

export const listView = (): ListView => {
  const { view } = get();
  return isList(view) ? view : 'todo';
};

/** A map with one entry more, or without it. */
export function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V | undefined) {
  const next = new Map(map);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}

export function mark(id: string, value: Mark | undefined): void {
  set({ marks: withEntry(get().marks, id, value) });
}

export function changePanel(itemId: string, change: Partial<Panel>): void {
  const { panel } = get();
  if (panel?.itemId === itemId) set({ panel: { ...panel, ...change } });
}

/** Who reads what is typed with an action. What is meant for the one never reaches the other. */
const READERS: Partial<Record<Action, 'author' | 'lead'>> = {
  reject: 'author',
  remove: 'author',
  uphold: 'author',
  escalate: 'lead',
};

export const isWorded = (action: Action): boolean => READERS[action] !== undefined;

export const draftOf = (id: string, action: Action): string =>
  get().drafts.get(`${id} ${READERS[action]}`) ?? '';

export function draft(id: string, action: Action, text: string): void {
  const slot = `${id} ${READERS[action]}`;
  set({ drafts: withEntry(get().drafts, slot, text === '' ? undefined : text) });
}

export const hasDraft = (id: string): boolean =>
  draftOf(id, 'reject') !== '' || draftOf(id, 'escalate') !== '';

/** Both of them: the decision was made. */
export function forgetDrafts(id: string): void {
  draft(id, 'reject', '');
  draft(id, 'escalate', '');
}

export function switchKeys(on: boolean): void {
  set({ keys: on });
  say(on ? 'Keys are on.' : 'Keys are off.');
  try {
    localStorage.setItem(KEYS, on ? 'on' : 'off');
  } catch {
    // Full or forbidden: they are switched for this tab.
  }
}

/** Told by the one live region, also where the same is said twice. */
export function say(text: string): void {
  set({ said: get().said === text ? `${text}\u00a0` : text });
}

let toastTimer: ReturnType<typeof setTimeout> | undefined;

export function toast(text: string, more: Partial<Omit<Toast, 'text'>> = {}): void {
  const { about = '', undo = null, tone = 'plain' } = more;
  clearTimeout(toastTimer);
  set({ toast: { text, about, undo, tone } });
  const whole = about ? `${text} “${plainText(about)}”` : text;
  say(undo && get().keys ? `${whole}. Undo with u.` : whole);
  dismissAfter(tone === 'alert' ? 20_000 : 10_000);
}

/** Not while it is pointed at or has the focus. */
function dismissAfter(ms: number): void {
  toastTimer = setTimeout(() => {
    if (document.querySelector('.toast:is(:hover, :focus-within)')) dismissAfter(2000);
    else set({ toast: null });
  }, ms);
}
