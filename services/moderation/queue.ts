import type { Sql } from '../eventstore/sql.ts';
import { type Place, readPlace, writePlace } from '../http/place.ts';
import type { Role } from '../http/principal.ts';
import { withDetails } from './item-rows.ts';

export const VIEWS = ['todo', 'mine', 'escalated', 'reported', 'appeals', 'decided'] as const;
export type View = (typeof VIEWS)[number];

/** Views from which the next note may be claimed. */
export const CLAIM_VIEWS = ['todo', 'escalated', 'reported', 'appeals'] as const;
export type ClaimView = (typeof CLAIM_VIEWS)[number];

interface Shape {
  where: string;
  at: string;
  newestFirst?: true;
}

const DUE = '(n.deferred_until IS NULL OR n.deferred_until <= clock_timestamp())';

/** Each is walked along an index of its own, whose condition it repeats word for word. */
export const SHAPES: Readonly<Record<View, Shape>> = {
  todo: { where: `n.state = 'pending' AND ${DUE}`, at: 'n.submitted_at' },
  mine: { where: 'true', at: 'n.submitted_at' },
  escalated: { where: `n.state = 'pending' AND n.tier = 'lead' AND ${DUE}`, at: 'n.submitted_at' },
  reported: { where: `n.state = 'approved' AND n.reported_at IS NOT NULL`, at: 'n.reported_at' },
  appeals: { where: `n.appeal = 'open'`, at: 'n.appealed_at' },
  decided: {
    where: `n.state IN ('approved', 'rejected', 'removed')`,
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
  /** A part of the text or of the guest's name, in any case. */
  q?: string | undefined;
  /** The code of a finding that screening made. */
  finding?: string | undefined;
  /** Seconds. */
  older_than?: number | undefined;
}

/** Only a lead's own queue mixes the tiers; it begins with the lead's. */
export const mixesTiers = (view: View, role: Role) => view === 'todo' && role === 'lead';

/** What is escalated is for leads: to the others it would come back as the oldest, again and again. */
export function where(view: View, role: Role): string {
  const mine = view === 'todo' && role !== 'lead' ? ` AND n.tier = 'normal'` : '';
  return `${SHAPES[view].where}${mine}`;
}

export interface QueuePlace extends Place {
  tier: string;
}

/** No page is longer, with the row that tells of the next one. In the text, so that few are planned for. */
const MOST = 101;

/** One page of a view, oldest first (decided: newest first), on from a place. */
export function queuePage(
  view: View,
  viewer: Viewer,
  filters: Filters,
  limit: number,
  after: QueuePlace | undefined,
): Sql {
  const { at, newestFirst } = SHAPES[view];
  const values: unknown[] = [];
  const value = (given: unknown, type: string) => `$${values.push(given)}::${type}`;
  const conditions = [where(view, viewer.role), ...filterConditions(filters, value)];
  if (after && newestFirst) {
    const [time, id] = [value(after.at, 'timestamptz'), value(after.id, 'uuid')];
    conditions.push(`${at} <= ${time} AND (${at} < ${time} OR n.note_id > ${id})`);
  } else if (after) {
    const [time, id] = [value(after.at, 'timestamptz'), value(after.id, 'uuid')];
    conditions.push(
      mixesTiers(view, viewer.role)
        ? `(n.tier, ${at}, n.note_id) > (${value(after.tier, 'text')}, ${time}, ${id})`
        : `(${at}, n.note_id) > (${time}, ${id})`,
    );
  }
  const leases =
    view === 'mine'
      ? `JOIN note_leases l ON l.note_id = n.note_id AND l.subject_type = 'note'
          AND l.moderator_id = ${value(viewer.moderatorId, 'uuid')}
          AND l.expires_at > clock_timestamp()`
      : '';
  const tier = mixesTiers(view, viewer.role) ? 'n.tier' : `''`;
  const order = newestFirst ? `${at} DESC, n.note_id` : `${at}, n.note_id`;
  const text = `SELECT * FROM (SELECT n.note_id, ${tier} AS tier, ${at} AS at FROM notes n ${leases}
    WHERE ${conditions.join(' AND ')}
    ORDER BY ${mixesTiers(view, viewer.role) ? 'n.tier, ' : ''}${order}
    LIMIT ${MOST}) walked LIMIT ${value(limit, 'int')}`;
  return withDetails({ name: '', text, values }, newestFirst ? 'DESC' : 'ASC');
}

/** A member's id, which is no handle. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function filterConditions(
  { author, q, finding, older_than }: Filters,
  value: (given: unknown, type: string) => string,
): string[] {
  const conditions: string[] = [];
  if (author !== undefined && UUID.test(author))
    conditions.push(`n.member_id = ${value(author, 'uuid')}`);
  else if (author !== undefined) {
    const name = value(author, 'text');
    conditions.push(`(n.member_id = (SELECT member_id FROM members WHERE handle = ${name})
      OR (n.member_id IS NULL AND n.name = ${name}))`);
  }
  if (q !== undefined) {
    const part = value(`%${q.replace(/[\\%_]/g, '\\$&')}%`, 'text');
    conditions.push(`(n.message ILIKE ${part} OR n.name ILIKE ${part})`);
  }
  if (finding !== undefined)
    conditions.push(`EXISTS (SELECT FROM note_screenings s WHERE s.note_id = n.note_id
      AND s.findings @> ${value(JSON.stringify([{ code: finding }]), 'jsonb')})`);
  if (older_than !== undefined)
    conditions.push(
      `n.submitted_at < clock_timestamp() - make_interval(secs => ${value(older_than, 'int')})`,
    );
  return conditions;
}

/** A cursor belongs to its view. */
export function writeQueuePlace(view: View, { tier, at, id }: QueuePlace): string {
  return `${view}.${tier}.${writePlace({ at, id })}`;
}

export function readQueuePlace(view: View, cursor: string): QueuePlace | undefined {
  const [of, tier, place, ...more] = cursor.split('.');
  const known = of === view && (tier === '' || tier === 'lead' || tier === 'normal');
  const read = known && more.length === 0 ? readPlace(place ?? '') : undefined;
  return read && { ...read, tier: tier ?? '' };
}

/** Counts what a view holds, up to `most` where that is given. */
export function countView(view: Exclude<View, 'mine'>, role: Role, most?: number): string {
  const limit = most ? `LIMIT ${most}` : '';
  const notes = `SELECT 1 FROM notes n WHERE ${where(view, role)} ${limit}`;
  const records = `SELECT 1 FROM reported_records WHERE reported_at IS NOT NULL ${limit}`;
  const counted = view === 'reported' ? `(${notes}) UNION ALL (${records})` : notes;
  return `SELECT count(*)::int AS count FROM (${counted}) counted`;
}
