import type { Action } from '../../../domain/moderation/roles.ts';
import { type View as ListView, VIEWS } from '../../../domain/moderation/words.ts';
import type { Entry } from '../../../services/moderation/audit/contract.ts';
import type {
  BatchResult,
  Decided,
  HistoryEvent,
  ThreadNote,
} from '../../../services/moderation/decisions/contract.ts';
import type { RulesBacktest } from '../../../services/moderation/policies/contract.ts';
import type { Item as NoteItem } from '../../../services/moderation/queue/item.ts';
import type { MemberItem as GivenMember } from '../../../services/moderation/queue/member-item.ts';
import type { RecordItem as GivenRecord } from '../../../services/moderation/queue/record-item.ts';
import type { RewindPreview, RewindReply } from '../../../services/moderation/rewind/contract.ts';
import type { Stats } from '../../../services/moderation/stats/contract.ts';
import type { SavedView } from '../../../services/moderation/views/contract.ts';

/** The service's own types, so that the console cannot drift from the API. */
export type {
  Action,
  BatchResult,
  Decided,
  Entry,
  HistoryEvent,
  ListView,
  NoteItem,
  RewindPreview,
  RewindReply,
  RulesBacktest,
  SavedView,
  Stats,
  ThreadNote,
};

/** A profile, an artifact, a case or a note on a case. */
export type RecordItem = Omit<GivenRecord, 'allowed_actions'> & { allowed_actions: Action[] };
/** A membership, whose disabling its member has appealed. */
export type MemberItem = Omit<GivenMember, 'allowed_actions'> & { allowed_actions: Action[] };
export type Item = NoteItem | RecordItem | MemberItem;

export const isNote = (item: Item): item is NoteItem => !('subject' in item);
export const isMember = (item: Item): item is MemberItem => 'disabling' in item;

export const reportsOf = (item: Item): NoteItem['reports'] => (isMember(item) ? [] : item.reports);

/** The appeal against the decision on a note or a membership. */
export const appealOf = (item: Item): NoteItem['appeal'] =>
  isNote(item) || isMember(item) ? item.appeal : null;

export interface Subject {
  type: 'note' | RecordItem['subject']['type'] | MemberItem['subject']['type'];
  id: string;
}

export const PAGES = ['search', 'stats', 'policies', 'audit'] as const;
export type View = ListView | (typeof PAGES)[number];

export const isList = (view: View): view is ListView => VIEWS.includes(view as ListView);

type Role = 'triage' | 'moderator' | 'lead' | 'auditor';

export interface Moderator {
  id: string;
  name: string;
  role: Role;
}

export interface Lease {
  lease_id: string;
  subject: Subject;
  /** Unix seconds. */
  expires_at: number;
}

export type Counts = Record<Exclude<ListView, 'decided'>, number>;

export interface QueueBody {
  items: Item[];
  next_cursor: string | null;
  counts: Counts;
}

export interface Policy {
  code: string;
  title: string;
  text: string;
  active: boolean;
  version: number;
  /** Prepared messages to authors. */
  messages: string[];
}

export interface Detail {
  /** The item's version when thread and history were read. */
  version: number;
  thread: ThreadNote[];
  /** The newest events, oldest first. */
  history: HistoryEvent[];
  /** Leads to earlier events; null if there are none. */
  history_before: string | null;
}

/** The console's item id: a note's id, or `type/id` of a record, since ids repeat across types. */
export const toItemId = ({ type, id }: Subject): string => (type === 'note' ? id : `${type}/${id}`);

export const toSubject = (name: string): Subject => {
  const [type = '', id] = name.split('/');
  return id === undefined ? { type: 'note', id: name } : { type: type as Subject['type'], id };
};

/** The item as a subject in the API, such as `note/id`. */
export const toSubjectPath = (name: string): string => (name.includes('/') ? name : `note/${name}`);

export const toPath = (name: string): string =>
  name.includes('/') ? `subjects/${name}` : `notes/${name}`;

/** Replaces the id of a record from the service by the console's item id. */
export const withItemId = <Given extends Item>(item: Given): Given =>
  'subject' in item ? { ...item, id: toItemId(item.subject) } : item;
