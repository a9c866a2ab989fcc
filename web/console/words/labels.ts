import {
  type Action,
  type HistoryEvent,
  type Item,
  isMember,
  isNote,
  type Subject,
  type View,
} from './api-model.ts';

export const VIEW_NAMES: Record<View, string> = {
  todo: 'To do',
  mine: 'Mine',
  escalated: 'Escalated',
  deferred: 'Deferred',
  reported: 'Reported',
  appeals: 'Appeals',
  decided: 'Decided',
  search: 'Search',
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

export const KIND_NAMES: Record<Subject['type'], string> = {
  note: 'Note',
  profile: 'Profile',
  artifact: 'Context packet',
  case: 'Case',
  case_note: 'Note on a case',
  member: 'Membership',
};

export const isSubjectType = (type: string): type is Subject['type'] => type in KIND_NAMES;

export const kindName = (item: Item): string => {
  if (!isNote(item)) return KIND_NAMES[item.subject.type];
  return item.parent ? 'Reply' : KIND_NAMES.note;
};

const DECISION_TEXTS: Record<Action, string> = {
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

/** A heading for an item, up to the name of its author. */
export const kindBy = (item: Item): string =>
  isMember(item) ? `${kindName(item)} of` : `${kindName(item)} by`;

export const decisionText = (action: Action, policy?: string): string =>
  policy ? `${DECISION_TEXTS[action]}: ${policy}` : DECISION_TEXTS[action];

const FURTHER_TEXTS: Record<string, string> = {
  undo: 'Undone',
  disable: 'Disabled',
  enable: 'Enabled',
};

/** What a moderator did, as a preview of a rewind lists it. */
export const rewindActionText = (action: string): string =>
  DECISION_TEXTS[action as Action] ?? FURTHER_TEXTS[action] ?? action;

const FINDING_NAMES: Record<string, string> = {};
export const findingName = (code: string): string => {
  FINDING_NAMES[code] ??= code.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
  return FINDING_NAMES[code];
};

export const authorName = ({ author }: Pick<Item, 'author'>): string =>
  author.name || (author.kind === 'guest' ? 'a guest' : 'a member');

const EVENT_TEXTS: Record<string, string> = {
  NoteSubmitted: 'submitted',
  NoteCorrected: 'corrected by its author',
  NoteApproved: 'approved',
  NoteRejected: 'rejected',
  NoteEscalated: 'escalated',
  NoteDeferred: 'deferred',
  DecisionUndone: 'decision undone',
  NoteRemoved: 'removed',
  NoteRestored: 'restored',
  NoteWithdrawn: 'withdrawn by its author',
  NoteReported: 'reported',
  ClaimTakenOver: 'taken over',
  NotesFolded: 'notes folded',
  NotesUnfolded: 'notes unfolded',
  ReportsDismissed: 'reports dismissed',
  AppealOpened: 'appealed',
  AppealGranted: 'appeal granted',
  AppealUpheld: 'decision upheld',
  NoteErased: 'text erased',
  NoteScreened: 'screened',
  DecisionTold: 'author notified',
  RecordReported: 'reported',
  CommentAdded: 'comment',
  CommentDeleted: 'comment deleted',
  RecordReportsDismissed: 'reports dismissed',
  RecordReportsResolved: 'reporters notified',
  MemberDisabled: 'disabled',
  MemberEnabled: 'enabled',
  MemberAppealed: 'appealed',
  MemberAppealGranted: 'appeal granted',
  MemberAppealUpheld: 'decision upheld',
  MemberDecisionUndone: 'decision undone',
};

export const eventText = (type: string): string =>
  EVENT_TEXTS[type] ?? type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();

/** A job notifies people of decisions: its event names no person who acted, and repeats the decision. */
export const isNotification = ({ type }: HistoryEvent): boolean =>
  type === 'DecisionTold' || type === 'RecordReportsResolved';

export const actorName = ({ type, name }: HistoryEvent['actor']): string => {
  if (name) return name;
  return type === 'service' ? 'the service' : `a ${type}`;
};

/** The first `maxLength` code points of a text. */
export const truncate = (text: string, maxLength: number): string =>
  [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('');

const MAX_QUOTE_LENGTH = 40;

/** A short text that identifies an item in a sentence. */
export const toQuote = (item: Item): string =>
  truncate(isErased(item) ? authorName(item) : toExcerpt(item), MAX_QUOTE_LENGTH);

/** An item's text in a list, after its title if it has one. */
export const toExcerpt = (item: Item): string =>
  'title' in item && item.title !== '' ? `${item.title} – ${item.text}` : item.text;

export function isErased(item: Item): boolean {
  if (isNote(item)) return item.erased;
  return !isMember(item) && item.title === '' && item.text === '';
}
