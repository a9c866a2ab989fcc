import { type Filters, readAddress } from '../queue/address.ts';
import type {
  Action,
  Counts,
  Detail,
  Item,
  Lease,
  ListView,
  MemberItem,
  Moderator,
  Policy,
  SavedView,
  View,
} from '../words/api-model.ts';
import { isList } from '../words/api-model.ts';
import { plainText } from '../words/marked-text.tsx';
import { HAS_KEYBOARD } from './keyboard.ts';
import { createStore } from './store.ts';

/** Local status of a row, in addition to the API's data. */
export type Mark = { kind: 'deciding'; action: Action } | { kind: 'conflict'; text: string };

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

export interface Batch {
  action: Action;
  items: Item[];
  /** How many notes were chosen beyond the items, such as '3 selected notes'; null if none. */
  leftOut: string | null;
  sending: boolean;
}

export interface HeldLease extends Lease {
  /** This tab made the claim, and releases the lease when the page closes. */
  here: boolean;
  /** Request number when the lease was stored; answers to earlier requests do not include it. */
  since: number;
  lost: boolean;
}

/** A decision or batch that can be undone. `key` is the idempotency key of the undo request. */
export type Undoable = { key: string; about: string } & (
  | { kind: 'item'; itemId: string; eventId: string; version: number }
  | { kind: 'batch'; batchId: string; words: string }
);

export type OwnDecision = Undoable | { kind: 'final'; words: string; about: string };

export interface Toast {
  text: string;
  /** The beginning of the item in question. */
  about: string;
  undo: Undoable | null;
  tone: 'plain' | 'alert';
}

interface State {
  me: Moderator | null;
  /** `unknown` until the first answer; `lost` keeps the state and asks for the token again. */
  session: 'unknown' | 'out' | 'in' | 'lost';
  view: View;
  filters: Filters;
  items: readonly Item[];
  /** Rows whose items have left the list; they stay, dimmed, until the rows move anyway. */
  gone: ReadonlySet<string>;
  /** Items that have come and would move the rows; they wait until the moderator shows them. */
  arrivals: readonly Item[];
  nextCursor: string | null;
  loading: boolean;
  /** Why the list failed to load. */
  listFault: string | null;
  counts: Counts | null;
  /** The item of the address, which the list need not contain, once it is read. */
  linkedId: string | null;
  linked: Item | null;
  focusId: string | null;
  /** In the one-column layout, show the item instead of the list. */
  open: boolean;
  selected: ReadonlySet<string>;
  /** Keyed by item id. */
  leases: ReadonlyMap<string, HeldLease>;
  /** By item: the version that was decided on here, until the decision is refused or undone. */
  decided: ReadonlyMap<string, number>;
  /** Decisions made here, the latest last. */
  ownDecisions: readonly OwnDecision[];
  marks: ReadonlyMap<string, Mark>;
  details: ReadonlyMap<string, Detail>;
  /** Typed text by item and reader, kept until a decision is accepted. */
  drafts: ReadonlyMap<string, string>;
  panel: Panel | null;
  batch: Batch | null;
  /** The membership that a lead is asked about, before it is disabled or enabled. */
  membership: MemberItem | null;
  /** Shows the author's other items beside the current item. */
  drawer: boolean;
  help: boolean;
  /** Items whose abusive text the moderator has asked to see. */
  revealed: ReadonlySet<string>;
  /** Decisions made since signing in. */
  made: number;
  /** What the sign-in page says of the session before. */
  farewell: string | null;
  /** Whether a decision claims the next free item; null until the moderator has chosen. */
  keepGoing: boolean | null;
  /** How many other moderators are at work. */
  colleagues: number;
  /** Rows of the list have one line of text. */
  compact: boolean;
  keys: boolean;
  /** The browser notifies of new items while the page is not looked at. */
  notify: boolean;
  toast: Toast | null;
  /** Text of the polite live region. */
  announcement: string;
  stream: 'live' | 'connecting' | 'paused';
  policies: readonly Policy[];
  /** Views that the moderator has saved, or that others share. */
  savedViews: readonly SavedView[];
  policiesRead: boolean;
}

const KEYS_SETTING = 'moderation.keys';

const COMPACT_SETTING = 'moderation.compact';
const KEEP_GOING_SETTING = 'moderation.keep-going';

/** Null without storage, where each tab starts anew. */
function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Null until the moderator has chosen. */
function readSwitch(name: string): boolean | null {
  const setting = readSetting(name);
  return setting === null ? null : setting === 'on';
}

function saveSetting(name: string, on: boolean): void {
  try {
    localStorage.setItem(name, on ? 'on' : 'off');
  } catch {
    // The storage is full or forbidden, so the setting applies to this tab only.
  }
}

const place = readAddress(location);

export const store = createStore<State>({
  me: null,
  session: 'unknown',
  ...place,
  items: [],
  gone: new Set(),
  arrivals: [],
  nextCursor: null,
  loading: false,
  listFault: null,
  counts: null,
  linked: null,
  focusId: place.linkedId,
  open: place.linkedId !== null,
  selected: new Set(),
  leases: new Map(),
  decided: new Map(),
  ownDecisions: [],
  marks: new Map(),
  details: new Map(),
  drafts: new Map(),
  panel: null,
  batch: null,
  membership: null,
  drawer: false,
  help: false,
  revealed: new Set(),
  made: 0,
  farewell: null,
  keepGoing: readSwitch(KEEP_GOING_SETTING),
  colleagues: 0,
  compact: readSetting(COMPACT_SETTING) === 'on',
  keys: readSetting(KEYS_SETTING) !== 'off',
  notify: false,
  toast: null,
  announcement: '',
  stream: 'connecting',
  policies: [],
  savedViews: [],
  policiesRead: false,
});

export const { get, set } = store;

export const currentItem = (): Item | undefined => findItem(get().focusId);

export const findItem = (id: string | null): Item | undefined =>
  [...get().items, get().linked].find((item) => item?.id === id) ?? undefined;

export const currentList = (): ListView => {
  const { view } = get();
  return isList(view) ? view : 'todo';
};

/** Copies a map with the entry set, or deleted if the value is undefined. */
export function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V | undefined) {
  const next = new Map(map);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}

export function setMark(id: string, value: Mark | undefined): void {
  set({ marks: withEntry(get().marks, id, value) });
}

export function changePanel(itemId: string, change: Partial<Panel>): void {
  const { panel } = get();
  if (panel?.itemId === itemId) set({ panel: { ...panel, ...change } });
}

/** Who reads the text typed with an action. Drafts are kept apart by reader. */
const READERS: Partial<Record<Action, 'author' | 'lead'>> = {
  reject: 'author',
  remove: 'author',
  uphold: 'author',
  escalate: 'lead',
};

export const takesMessage = (action: Action): boolean => READERS[action] !== undefined;

export const getDraft = (id: string, action: Action): string =>
  get().drafts.get(`${id} ${READERS[action]}`) ?? '';

export function setDraft(id: string, action: Action, text: string): void {
  const slot = `${id} ${READERS[action]}`;
  set({ drafts: withEntry(get().drafts, slot, text === '' ? undefined : text) });
}

export const hasDraft = (id: string): boolean =>
  getDraft(id, 'reject') !== '' || getDraft(id, 'escalate') !== '';

/** Deletes both drafts of an item, for the author and for a lead. */
export function deleteDrafts(id: string): void {
  setDraft(id, 'reject', '');
  setDraft(id, 'escalate', '');
}

export function switchKeys(on: boolean): void {
  set({ keys: on });
  announce(on ? 'Keyboard shortcuts are on.' : 'Keyboard shortcuts are off.');
  saveSetting(KEYS_SETTING, on);
}

/** Whether a decision claims the next free item: as the moderator chose, otherwise if colleagues are at work. */
export const wantsToKeepGoing = ({ keepGoing, colleagues }: State): boolean =>
  keepGoing ?? colleagues > 0;

export function switchKeepGoing(on: boolean): void {
  set({ keepGoing: on });
  saveSetting(KEEP_GOING_SETTING, on);
}

export function switchCompact(on: boolean): void {
  set({ compact: on });
  saveSetting(COMPACT_SETTING, on);
  // The list measures its rows again once they are drawn.
  requestAnimationFrame(() => dispatchEvent(new Event('resize')));
}

/** Announces a text in the live region. A trailing space makes a repeated text differ. */
export function announce(text: string): void {
  set({ announcement: get().announcement === text ? `${text}\u00a0` : text });
}

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows and announces a message for 10 seconds, or an alert for 20 seconds. */
export function showToast(text: string, options: Partial<Omit<Toast, 'text'>> = {}): void {
  const { about = '', undo = null, tone = 'plain' } = options;
  clearTimeout(toastTimer);
  set({ toast: { text, about, undo, tone } });
  const whole = about ? `${text} “${plainText(about)}”` : text;
  announce(undo && get().keys && HAS_KEYBOARD ? `${whole}. Press u to undo.` : whole);
  dismissAfter(tone === 'alert' ? 20_000 : 10_000);
}

/** Dismisses the toast, but not while it is hovered or focused. */
function dismissAfter(ms: number): void {
  toastTimer = setTimeout(() => {
    if (document.querySelector('.toast:is(:hover, :focus-within)')) dismissAfter(2000);
    else set({ toast: null });
  }, ms);
}
