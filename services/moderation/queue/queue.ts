import type { AuthorRecord, Script, View } from '../../../domain/moderation/words.ts';
import type { Role } from '../../../domain/permissions.ts';
import {
  formatKeysetCursor,
  type KeysetPosition,
  parseKeysetCursor,
} from '../../../platform/keyset-cursor.ts';
import { stays } from '../../../projections/membership/members.ts';

/** The views from which a moderator can claim the next item. */
export const CLAIM_VIEWS = ['todo', 'escalated', 'reported', 'appeals'] as const;
export type ClaimView = (typeof CLAIM_VIEWS)[number];

/** SQL: whether the note `n` is not deferred to a time that has not come. */
export const DUE = '(n.deferred_until IS NULL OR n.deferred_until <= clock_timestamp())';

interface Shape {
  viewCondition: string;
  at: string;
  newestFirst?: true;
}

/** Each view is scanned along its index, so `where` repeats the condition of the index verbatim. */
export const VIEW_SHAPES: Readonly<Record<View, Shape>> = {
  todo: { viewCondition: `n.state = 'pending' AND ${DUE}`, at: 'n.submitted_at' },
  mine: { viewCondition: 'true', at: 'n.submitted_at' },
  escalated: {
    viewCondition: `n.state = 'pending' AND n.tier = 'lead' AND ${DUE}`,
    at: 'n.submitted_at',
  },
  deferred: {
    viewCondition: `n.state = 'pending' AND n.deferred_until > clock_timestamp()`,
    at: 'n.deferred_until',
  },
  reported: {
    viewCondition: `n.state = 'approved' AND n.reported_at IS NOT NULL`,
    at: 'n.reported_at',
  },
  appeals: { viewCondition: `n.appeal = 'open'`, at: 'n.appealed_at' },
  decided: {
    viewCondition: `n.state IN ('approved', 'rejected', 'removed')`,
    at: 'n.settled_at',
    newestFirst: true,
  },
};

export interface Viewer {
  moderatorId: string;
  role: Role;
}

export interface Filters {
  /** A member's id or handle, or a guest's name. */
  author?: string | undefined;
  /** A part of the text or of the guest's name, case-insensitive. */
  q?: string | undefined;
  /** The code of a screening finding. */
  finding?: string | undefined;
  /** The minimum age of the item, in seconds. */
  older_than?: number | undefined;
  /** The id of a guest's note, whose address the notes share. */
  same_address_as?: string | undefined;
  /** The id of a guest's note, whose text the notes have, or nearly. */
  like?: string | undefined;
  /** The guestbook of the notes. */
  experience?: string | undefined;
  /** The reason of an open report. */
  reason?: string | undefined;
  /** What the item is: a note, or a kind of record. */
  type?: string | undefined;
  /** The policy of the rejection or removal in force. */
  policy?: string | undefined;
  /** The moderator who made the decision in force. */
  decided_by?: string | undefined;
  /** The decision in force. */
  state?: DecidedState | undefined;
  /** The script of the text's beginning. */
  script?: Script | undefined;
  /** What was decided on the author's notes before. */
  author_record?: AuthorRecord | undefined;
  /** Only these items: note ids, and records as `type/id`. */
  only?: readonly string[] | undefined;
  /** The order, if not that of the view. */
  sort?: Sort | undefined;
}

/** What decided items are; of records, only removed ones have a decision that lasts. */
export const DECIDED_STATES = ['approved', 'rejected', 'removed'] as const;
export type DecidedState = (typeof DECIDED_STATES)[number];

export const SORTS = ['oldest', 'newest'] as const;
export type Sort = (typeof SORTS)[number];

/** Whether the newest item comes first: in the decided view always, since its index has that order. */
export const isNewestFirst = (view: View, { sort }: Pick<Filters, 'sort'>): boolean =>
  VIEW_SHAPES[view].newestFirst === true || sort === 'newest';

/** A text search in `todo` covers every pending note, including deferred and escalated ones. */
const searchesAll = (view: View, filters: Filters) => view === 'todo' && filters.q !== undefined;

/** Only a lead's `todo` and a text search in `todo` have notes of both tiers. */
export const hasBothTiers = (view: View, role: Role, filters: Filters = {}) =>
  view === 'todo' && (role === 'lead' || searchesAll(view, filters));

/** Verbatim the condition of an index, which no condition of another statement implies, nor this one that of another index. */
const REFUSED = `n.state NOT IN ('pending', 'approved', 'withdrawn') AND n.settled_at IS NOT NULL`;

/** Whether only rejected and removed notes fit, in a view with all decided ones; an author's have an index of their own. */
const findsRefused = (view: View, { author, policy, state }: Filters) =>
  view === 'decided' &&
  author === undefined &&
  (policy !== undefined || state === 'rejected' || state === 'removed');

/**
 * The SQL condition of a view. Only leads see escalated notes in `todo`; to other moderators, these
 * would come back again and again as the oldest notes.
 */
export function where(view: View, role: Role, filters: Filters = {}): string {
  if (searchesAll(view, filters)) return `n.state = 'pending'`;
  if (findsRefused(view, filters)) return REFUSED;
  const mine = view === 'todo' && role !== 'lead' ? ` AND n.tier = 'normal'` : '';
  return `${VIEW_SHAPES[view].viewCondition}${mine}`;
}

/**
 * Whether folded notes share a row: in `todo`, unless the filters ask for an author, an address or a text, of
 * whom every note is to be seen.
 */
export const foldsIn = (view: View, { q, author, like, same_address_as }: Filters): boolean =>
  view === 'todo' && (q ?? author ?? like ?? same_address_as) === undefined;

/** A place in the order of a view. Its time is UTC, to the microsecond. */
export interface QueuePlace extends KeysetPosition {
  tier: string;
}

/** Matches a member's id; a handle never has this form. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether notes can fit the filters. */
export const hasNotes = ({ type }: Filters): boolean => type === undefined || type === 'note';

/** Whether a view's records or memberships can fit the filters, some of which apply to notes only. */
export function hasRecords(view: View, filters: Filters): boolean {
  const { q, finding, same_address_as, like, experience, script, author_record, type } = filters;
  const ofNotes = q ?? finding ?? same_address_as ?? like ?? experience ?? script ?? author_record;
  if (ofNotes !== undefined || type === 'note') return false;
  const ofDecided = filters.policy ?? filters.decided_by ?? filters.state;
  return ofDecided === undefined || view === 'decided';
}

/** The order that a cursor belongs to: a view, and its order if that is another than usual. */
const orderName = (view: View, { sort }: Pick<Filters, 'sort'>): string =>
  sort === undefined ? view : `${view}-${sort}`;

/** Writes a cursor, which is valid only in its own view and order. */
export function writeQueuePlace(
  view: View,
  filters: Pick<Filters, 'sort'>,
  { tier, at, id }: QueuePlace,
): string {
  return `${orderName(view, filters)}.${tier}.${formatKeysetCursor('queue', { at, id })}`;
}

export function readQueuePlace(
  view: View,
  filters: Pick<Filters, 'sort'>,
  cursor: string,
): QueuePlace | undefined {
  const [of, tier, place, ...more] = cursor.split('.');
  const known =
    of === orderName(view, filters) && (tier === '' || tier === 'lead' || tier === 'normal');
  const read = known && more.length === 0 ? parseKeysetCursor('queue', place ?? '') : undefined;
  return read && { ...read, tier: tier ?? '' };
}

/** Counts the items of a view; `most`, if given, limits the count of notes and of records. */
export function countView(view: Exclude<View, 'mine'>, role: Role, most?: number): string {
  const limit = most ? `LIMIT ${most}` : '';
  const notes = `SELECT 1 FROM notes n WHERE ${where(view, role)} ${limit}`;
  const records = `SELECT 1 FROM reported_records
    WHERE reported_at IS NOT NULL AND ${stays('author_id')} ${limit}`;
  const counted = view === 'reported' ? `(${notes}) UNION ALL (${records})` : notes;
  return `SELECT count(*)::int AS count FROM (${counted}) counted`;
}
