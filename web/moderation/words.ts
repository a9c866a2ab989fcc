import type { Failure } from './api.ts';
import {
  type Action,
  type HistoryEvent,
  type Item,
  isNote,
  type Subject,
  type View,
} from './wire.ts';

export const VIEW_NAMES: Record<View, string> = {
  todo: 'To do',
  mine: 'Mine',
  escalated: 'Escalated',
  deferred: 'Deferred',
  reported: 'Reported',
  appeals: 'Appeals',
  decided: 'Decided',
  stats: 'Stats',
  policies: 'Policies',
  audit: 'Audit',
};

export const ACTION_NAMES: Record<Action, string> = {
  approve: 'Approve',
  reject: 'Reject',
  escalate: 'Escalate',
  defer: 'Defer',
  remove: 'Remove',
  restore: 'Restore',
  keep: 'Keep',
  grant: 'Grant the appeal',
  uphold: 'Uphold the decision',
};

const KIND_NAMES: Record<Subject['type'], string> = {
  note: 'Note',
  profile: 'Profile',
  artifact: 'Context packet',
  case: 'Case',
  case_note: 'Note on a case',
};

export const kindName = (item: Item): string => {
  if (!isNote(item)) return KIND_NAMES[item.subject.type];
  return item.parent ? 'Reply' : KIND_NAMES.note;
};

const DONE: Record<Action, string> = {
  approve: 'Approved',
  reject: 'Rejected',
  escalate: 'Escalated',
  defer: 'Deferred',
  remove: 'Removed',
  restore: 'Restored',
  keep: 'Kept',
  grant: 'Appeal granted',
  uphold: 'Decision upheld',
};

export const doneWords = (action: Action, policy?: string): string =>
  policy ? `${DONE[action]}: ${policy}` : DONE[action];

const FINDING_NAMES: Record<string, string> = {};
export const findingName = (code: string): string => {
  FINDING_NAMES[code] ??= code.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
  return FINDING_NAMES[code];
};

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** The time of day for a time of today; date and time otherwise. */
export function timeWords(at: string | number | Date): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString()
    ? clock.format(date)
    : whole.format(date);
}

export const fullTime = (at: string | number | Date): string => whole.format(new Date(at));
export const countWords = (value: number): string => count.format(value);
export const rateWords = (value: number | null): string =>
  value === null ? '–' : percent.format(value);

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** A time span in its largest unit, rounded down: "3 d", "45 min". */
export function spanWords(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 1) return seconds < 0.05 ? '0 s' : `${seconds.toFixed(1)} s`;
  const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? UNITS[3];
  return `${Math.floor(seconds / size)} ${unit}`;
}

const seenAt = new WeakMap<object, number>();

/** An item's current age in seconds: the service's value plus the time since the first call. */
export function ageOf(item: Pick<Item, 'age_seconds'>): number {
  const now = Date.now();
  const seen = seenAt.get(item) ?? now;
  seenAt.set(item, seen);
  return item.age_seconds + (now - seen) / 1000;
}

export const plural = (number: number, one: string, many = `${one}s`): string =>
  `${countWords(number)} ${number === 1 ? one : many}`;

export const authorName = ({ author }: Pick<Item, 'author'>): string =>
  author.name || (author.kind === 'guest' ? 'a guest' : 'a member');

interface Named {
  id?: string;
  name?: string;
}

/** "Anna claimed it at 21:31." */
export const heldWords = (by: Named | undefined, since: string | undefined): string =>
  `${by?.name || 'Another moderator'} claimed it at ${timeWords(since ?? 0)}.`;

/** Verb phrases that follow the moderator's name. */
const DID: Record<string, string> = {
  approved: 'approved it',
  rejected: 'rejected it',
  removed: 'removed it',
  restored: 'restored it',
  kept: 'kept it',
  granted: 'granted the appeal',
  upheld: 'upheld the decision',
  escalated: 'escalated it',
  deferred: 'deferred it',
  undone: 'undid the decision',
};

/** "Anna approved it at 21:34." */
export const decidedWords = (by: string, decision: string, at: string): string =>
  `${by} ${DID[decision] ?? 'changed it'} at ${timeWords(at)}.`;

/** Says what prevented a decision, with the other moderator's name and the time. */
export function failureWords(failure: Failure): string {
  const { claimed_by, claimed_at, decided_by, decided_at, decision, current_state } =
    failure.details as {
      claimed_by?: Named;
      claimed_at?: string;
      decided_by?: Named;
      decided_at?: string;
      decision?: string;
      current_state?: string;
    };
  switch (failure.reason) {
    case 'claimed_by_other':
      return heldWords(claimed_by, claimed_at);
    case 'version_mismatch':
    case 'wrong_state':
      if (current_state === 'withdrawn') return 'Its author withdrew it.';
      if (decided_by && decided_at)
        return decidedWords(decided_by.name || 'Another moderator', decision ?? '', decided_at);
      return current_state ? `It is ${current_state} now.` : 'It has changed meanwhile.';
    case 'parent_not_public':
      return 'The note it replies to is not public, so this reply cannot be approved.';
    case 'second_person_required':
      return 'You made this decision, so another moderator must take the next one.';
    case 'undo_expired':
      return 'The undo window has ended. A lead can still undo it.';
    case 'claim_limit':
      return 'You have reached the limit of 10 claims. Decide on an item or release one first.';
    case 'role_required':
      return 'Your role does not allow this.';
    case 'network':
      return 'No answer from the service. You can safely try again.';
    default:
      return issueWords(failure) ?? failure.message;
  }
}

/** Says that a request was refused ("Not undone"), or that its outcome is unknown, and why. */
export function refusalWords(refused: string, request: string, failure: Failure): string {
  const unknown = failure.status === 0 || failure.code === 'outcome_unconfirmed';
  const outcome = unknown ? `The ${request} may not have been saved` : refused;
  return `${outcome}. ${failureWords(failure)}`;
}

function issueWords({ details }: Failure): string | undefined {
  const issues = details.issues as { path: string; message: string }[] | undefined;
  return issues?.map(({ path, message }) => `${path} ${message}`).join('; ');
}

const EVENT_WORDS: Record<string, string> = {
  NoteSubmitted: 'submitted',
  NoteApproved: 'approved',
  NoteRejected: 'rejected',
  NoteEscalated: 'escalated',
  NoteDeferred: 'deferred',
  DecisionUndone: 'decision undone',
  NoteRemoved: 'removed',
  NoteRestored: 'restored',
  NoteWithdrawn: 'withdrawn by its author',
  NoteReported: 'reported',
  ReportsDismissed: 'reports dismissed',
  AppealOpened: 'appealed',
  AppealGranted: 'appeal granted',
  AppealUpheld: 'decision upheld',
  NoteErased: 'text erased',
  NoteScreened: 'screened',
  DecisionTold: 'author notified',
  RecordReported: 'reported',
  RecordReportsDismissed: 'reports dismissed',
  RecordReportsResolved: 'reporters notified',
};

export const eventWords = (type: string): string =>
  EVENT_WORDS[type] ?? type.replace(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

export const actorWords = ({ type, name }: HistoryEvent['actor']): string => {
  if (name) return name;
  return type === 'service' ? 'the service' : `a ${type}`;
};

/** The first `most` code points of a text. */
export const firstOf = (text: string, most: number): string =>
  [...text.slice(0, 2 * most)].slice(0, most).join('');

const ABOUT = 40;

/** A short text that identifies an item in a sentence. */
export const aboutOf = (item: Item): string =>
  firstOf(isErased(item) ? authorName(item) : excerptOf(item), ABOUT);

/** An item's text in a list, after its title if it has one. */
export const excerptOf = (item: Item): string =>
  isNote(item) || item.title === '' ? item.text : `${item.title} – ${item.text}`;

export const isErased = (item: Item): boolean =>
  isNote(item) ? item.erased : item.title === '' && item.text === '';
