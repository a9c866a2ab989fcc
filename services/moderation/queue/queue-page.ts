import type { Sql } from '../../../platform/sql.ts';
import type { ItemRow } from './item-rows.ts';
import { withDetails } from './item-rows.ts';
import {
  type Filters,
  mixesTiers,
  type QueuePlace,
  SHAPES,
  UUID,
  type View,
  type Viewer,
  where,
} from './queue.ts';

/** No page is longer, with the row that tells of the next one. In the text, so that few are planned for. */
const MOST = 101;
/** So many notes are looked at for one page, where no index tells which of them fit. */
export const LOOKED_AT = 2_000;

/** A finding that no more notes have is rare: all of them are looked at, and no others. */
export const RARE = 500;

type Value = (given: unknown, type: string) => string;

/**
 * One page of a view, oldest first (decided: newest first), on from a place. Of rows that fit the
 * filters few may be found in a long view: the last row that was looked at is then among them, whether
 * it fits or not, and the next page goes on from there.
 */
export function queuePage(
  view: View,
  viewer: Viewer,
  filters: Filters,
  limit: number,
  after: QueuePlace | undefined,
): Sql<ItemRow> {
  const { at, newestFirst } = SHAPES[view];
  const mixed = mixesTiers(view, viewer.role, filters);
  const values: unknown[] = [];
  const value: Value = (given, type) => `$${values.push(given)}::${type}`;
  const conditions = [where(view, viewer.role, filters)];
  if (after && newestFirst) {
    const [time, id] = [value(after.at, 'timestamptz'), value(after.id, 'uuid')];
    conditions.push(`${at} <= ${time} AND (${at} < ${time} OR n.note_id > ${id})`);
  } else if (after) {
    const [time, id] = [value(after.at, 'timestamptz'), value(after.id, 'uuid')];
    conditions.push(
      mixed
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
  const order = `${mixed ? 'tier, ' : ''}at ${newestFirst ? 'DESC' : ''}, note_id`;
  const listed: Listed = (from, that, fits, most) =>
    `SELECT n.note_id, ${mixed ? 'n.tier' : `''`} AS tier, ${at} AS at, ${all(fits)} AS fits,
        false AS ends
      FROM ${from} ${leases} WHERE ${all([...conditions, ...that])}
      ORDER BY ${order} LIMIT ${most}`;
  const asked = conditionsOf(view, filters, value);
  const rows =
    filters.finding === undefined
      ? walked(asked, listed, order)
      : withFinding(value(filters.finding, 'text'), asked, listed, order);
  const text = `SELECT * FROM (${rows}) page LIMIT ${value(limit, 'int')}`;
  return withDetails({ name: '', text, values }, newestFirst ? 'DESC' : 'ASC');
}

/** The first notes of the view, of those `from` that meet these conditions, and which of them fit. */
type Listed = (from: string, that: string[], fits: string[], most: number) => string;

/** Along the indexes of the view. */
function walked({ walks, fits }: Conditions, listed: Listed, order: string): string {
  const most = fits.length > 0 ? LOOKED_AT : MOST;
  const each = walks.map((walk) => listed('notes n', walk, fits, most));
  const rows =
    each.length > 1
      ? `SELECT * FROM ((${each.join(') UNION ALL (')})) each ORDER BY ${order} LIMIT ${most}`
      : each.join();
  return fits.length > 0
    ? `SELECT note_id, tier, at, coalesce(fits, false) AS fits, turn = ${most} AS ends
      FROM (SELECT *, row_number() OVER () AS turn FROM (${rows}) walked) numbered
      WHERE fits OR turn = ${most}`
    : rows;
}

/** From the notes that have it where those are few, and else along the view. */
function withFinding(
  code: string,
  { walks, fits }: Conditions,
  listed: Listed,
  order: string,
): string {
  const rare = `(SELECT count(*) FROM found) <= ${RARE}`;
  // One by one: else the whole view may be read to be joined with what was found.
  const notes =
    'found CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = found.note_id LIMIT 1) n';
  const any = `(${walks.map(all).join(' OR ')})`;
  // A value, and not EXISTS, for which all that have it may be read into a hash.
  const has = `(SELECT true FROM note_findings f WHERE f.note_id = n.note_id AND f.code = ${code})`;
  return `WITH found AS MATERIALIZED (
      SELECT note_id FROM note_findings WHERE code = ${code} LIMIT ${RARE + 1})
    (${listed(notes, [rare, any, ...fits], [], MOST)})
    UNION ALL
    SELECT * FROM (${walked({ walks, fits: [...fits, has] }, listed, order)}) walked
    WHERE NOT (${rare})`;
}

const all = (conditions: readonly string[]): string => conditions.join(' AND ') || 'true';

interface Conditions {
  /** Of each walk along an index; together they make the view. */
  walks: string[][];
  /** Of a row that was found on it. */
  fits: string[];
}

/**
 * What was decided of an author is walked by itself, since it may be little of a long view: a
 * member's and a guest's notes have an index each. An age is a part of a walk in order of age.
 */
function conditionsOf(view: View, { author, q, older_than }: Filters, value: Value): Conditions {
  const walk: string[] = [];
  const fits: string[] = [];
  if (older_than !== undefined)
    (SHAPES[view].at === 'n.submitted_at' ? walk : fits).push(
      `n.submitted_at < clock_timestamp() - make_interval(secs => ${value(older_than, 'int')})`,
    );
  if (q !== undefined) {
    // Normalized before it is escaped: a wide percent sign becomes one that would stand for anything.
    const part = value(`%${q.normalize('NFKC').replace(/[\\%_]/g, '\\$&')}%`, 'text');
    fits.push(`(composed(n.message) ILIKE ${part} OR composed(n.name) ILIKE ${part})`);
  }
  const authors = author === undefined ? [] : authorsOf(author, value);
  if (view === 'decided' && authors.length > 0)
    return { walks: authors.map((one) => [...walk, one]), fits };
  if (authors.length > 0) fits.push(`(${authors.join(' OR ')})`);
  return { walks: [walk], fits };
}

/** By an id, a member; by a name, the member of that handle and the guests who gave it. */
function authorsOf(author: string, value: Value): string[] {
  if (UUID.test(author)) return [`n.member_id = ${value(author, 'uuid')}`];
  const name = value(author, 'text');
  return [
    `n.member_id = (SELECT member_id FROM members WHERE handle = ${name})`,
    `(n.member_id IS NULL AND n.name = ${name})`,
  ];
}
