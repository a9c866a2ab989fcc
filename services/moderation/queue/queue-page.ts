import type { AuthorRecord, View } from '../../../domain/moderation/words.ts';
import type { Sql } from '../../../platform/sql.ts';
import { toSearchQuery } from '../../../platform/word-vector.ts';
import { hasEnded } from '../../../projections/membership/members.ts';
import { HAS_MARK, IS_LIVE_FOLD, likeNote } from '../../../projections/screening/fold-marks.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { isInScript } from './in-script.ts';
import { type ItemRow, withDetails } from './item-rows.ts';
import {
  DUE,
  type Filters,
  foldsIn,
  hasBothTiers,
  isNewestFirst,
  type QueuePlace,
  UUID,
  VIEW_SHAPES,
  type Viewer,
  where,
} from './queue.ts';

/**
 * The longest page, plus one row that shows whether another page follows. The limit is part of the
 * SQL text, so that the planner expects few rows.
 */
const MAX_ROWS = 101;
/** The most notes that are scanned for one page, if no index finds those that match the filters. */
export const MAX_SCANNED = 2_000;

/** A finding on at most this many notes is rare: the page then scans these notes and no others. */
export const MAX_RARE_MATCHES = 500;

/** The most notes of one address, or like one note, that a list shows. */
const MAX_OF_ADDRESS = 1000;

/**
 * One page of a view after a place, oldest first (the decided view: newest first) unless `sort` says
 * otherwise. In a long view, few of the scanned notes may match the filters. The page then ends with
 * the last scanned note, whether it matches or not, and the next page continues from there.
 *
 * The statement, from the outside in; its parts follow in this order. Inserted from elsewhere are the condition of the view
 * (queue.ts) and rules that other statements share: ended, due, live lease, live fold, mark.
 *
 *     WITH page AS (SELECT * FROM (rows) page LIMIT limit), … SELECT …      withDetails: a statement on the notes of any page
 *     rows:  WITH RECURSIVE live_folds, marks, ended_folds, firsts          FOLD_TABLES, with folds
 *            WITH found AS (…) rare UNION ALL                               withFinding, with a finding
 *            SELECT … FROM (2,000 rows) WHERE fits                          walked, with filters that no index has
 *            list UNION ALL list …                                          ownRows, with folds: a list for each kind of row
 *     list:  SELECT note_id, tier, at FROM notes n                          toList
 *              WHERE the view AND NOT ended AND after the place AND filters with an index
 *              ORDER BY tier, at, note_id LIMIT 101
 *
 * Each parameter has its name behind it, as a comment; docs/contributing/tests.md says how to print the statement with its
 * values.
 */
export function queuePage(
  view: View,
  viewer: Viewer,
  filters: Filters,
  limit: number,
  after: QueuePlace | undefined,
): Sql<ItemRow> {
  const { rows, values, value } = queueRows(view, viewer, filters, after, foldsIn(view, filters));
  const text = `SELECT * FROM (${rows}) page LIMIT ${value(limit, 'int', 'limit')}`;
  return withDetails({ name: '', text, values }, isNewestFirst(view, filters) ? 'DESC' : 'ASC');
}

/** Adds a value to a statement, and returns its SQL, with its name. */
type Value = (given: unknown, type: string, name: string) => string;

/**
 * SQL for the rows of `queuePage`, at most `MAX_ROWS` that match; also to count them. With `folds`, the notes of a fold
 * share one row.
 */
export function queueRows(
  view: View,
  viewer: Viewer,
  filters: Filters,
  after?: QueuePlace,
  folds = false,
): { rows: string; values: unknown[]; value: Value } {
  const values: unknown[] = [];
  const value: Value = (given, type, name) => `$${values.push(given)}::${type} /* ${name} */`;
  const newestFirst = isNewestFirst(view, filters);
  const bothTiers = hasBothTiers(view, viewer.role, filters);
  // The lead's tier comes first, unless the newest do.
  const order: Order = { at: VIEW_SHAPES[view].at, newestFirst, byTier: bothTiers && !newestFirst };
  const { source, keys, list } = toList(view, viewer, filters, after, order, value);
  const { walks: asked, fits } = conditionsOf(view, filters, value);
  // Each tier has a part of the index, which alone is in the order of time.
  const each =
    bothTiers && newestFirst && !folds
      ? asked.flatMap((walk) => ['lead', 'normal'].map((tier) => [...walk, `n.tier = '${tier}'`]))
      : asked;
  const walks: Walks = (columns, most) =>
    each.flatMap((walk) => {
      const listed = (that: readonly string[]) => list(source, [...walk, ...that], columns, most);
      if (!folds) return [listed([])];
      if (!order.byTier) return ownRows(bothTiers, listed);
      const normal = merged(ownRows(false, listed), 'at, note_id', most);
      return [leadFirst(listed([`n.tier = 'lead'`]), normal, most)];
    });
  const any = `(${each.map(all).join(' OR ')})`;
  const shown = folds ? `${any} AND ${HAS_OWN_ROW}` : any;
  const rows =
    filters.finding === undefined
      ? walked(walks, fits, orderBy(order))
      : withFinding(
          value(filters.finding, 'text', 'finding'),
          { walks, list, order: orderBy(order) },
          { shown, fits, keys },
        );
  const text = folds ? `WITH RECURSIVE ${FOLD_TABLES} SELECT * FROM (${rows}) own_rows` : rows;
  return { rows: text, values, value };
}

/** SQL for the place and the columns of the first `most` notes in `from` that meet `that`. */
type List = (from: string, that: readonly string[], columns: string, most: number) => string;

/** SQL of scans along the indexes of the view, of at most `most` notes each, which together cover the view. */
type Walks = (columns: string, most: number) => string[];

/** The columns of a note that is on the page. */
const SHOWN = 'true AS fits, false AS ends';
/** The columns of a note that conditions are checked on. */
const CHECKED =
  'n.member_id, n.experience, n.state, n.settled_by, n.submitted_at, n.name, n.message, n.words';

/**
 * SQL of the common table expressions that `ownRows` reads: the folds that are not over; the marks of waiting notes, found by
 * one step of the index for each fold; the folds that are over and whose marks are not taken yet; and of each fold the oldest
 * waiting note, which represents the others.
 */
export const FOLD_TABLES = `live_folds AS MATERIALIZED (SELECT f.fold_id FROM note_folds f WHERE ${IS_LIVE_FOLD}),
  marks AS MATERIALIZED (
    (SELECT n.fold_id FROM notes n WHERE ${HAS_MARK} ORDER BY n.fold_id LIMIT 1)
    UNION ALL SELECT (SELECT n.fold_id FROM notes n WHERE ${HAS_MARK} AND n.fold_id > marks.fold_id
      ORDER BY n.fold_id LIMIT 1) FROM marks WHERE marks.fold_id IS NOT NULL),
  ended_folds AS MATERIALIZED (SELECT fold_id FROM marks
    WHERE fold_id IS NOT NULL AND fold_id NOT IN (SELECT fold_id FROM live_folds)),
  firsts AS MATERIALIZED (SELECT first.note_id FROM live_folds f CROSS JOIN LATERAL (
    SELECT n.note_id, n.submitted_at FROM notes n
    WHERE ${HAS_MARK} AND n.fold_id = f.fold_id AND ${DUE}
    ORDER BY n.submitted_at, n.note_id LIMIT 1) first)`;

/** SQL that scans only the notes with a finding if they are few, and else along the view. */
function withFinding(
  code: string,
  { walks, list, order }: { walks: Walks; list: List; order: string },
  { shown, fits, keys }: { shown: string; fits: readonly string[]; keys: readonly string[] },
): string {
  const rare = `(SELECT count(*) FROM found) <= ${MAX_RARE_MATCHES}`;
  // Looks up each found note by its id, because a plain join may read the whole view.
  const notes =
    'found CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = found.note_id LIMIT 1) n';
  // A scalar subquery, because for EXISTS the planner may hash all notes with the finding.
  const has = `(SELECT true FROM note_findings f WHERE f.note_id = n.note_id AND f.code = ${code})`;
  return `WITH found AS MATERIALIZED (
      SELECT note_id FROM note_findings WHERE code = ${code} LIMIT ${MAX_RARE_MATCHES + 1})
    (${list(notes, [rare, shown, ...keys, ...fits], SHOWN, MAX_ROWS)})
    UNION ALL
    SELECT * FROM (${walked(walks, [...fits, has], order)}) walked
    WHERE NOT (${rare})`;
}

/**
 * SQL that scans notes along the indexes of the view. Several scans are merged before the first note is checked, so
 * that only the notes before the end of the page are.
 */
function walked(walks: Walks, fits: readonly string[], order: string): string {
  const [columns, most] = fits.length > 0 ? [CHECKED, MAX_SCANNED] : [SHOWN, MAX_ROWS];
  const rows = merged(walks(columns, most), order, most);
  return fits.length > 0
    ? `SELECT note_id, tier, at, fits, turn = ${most} AS ends
      FROM (SELECT note_id, tier, at, turn, coalesce(${all(fits)}, false) AS fits
        FROM (SELECT *, row_number() OVER () AS turn FROM (${rows}) walked) n OFFSET 0) checked
      WHERE fits OR turn = ${most}`
    : rows;
}

/** SQL that merges lists in the same order. */
const merged = (lists: readonly string[], order: string, most: number): string =>
  lists.length > 1
    ? `SELECT * FROM ((${lists.join(') UNION ALL (')})) each ORDER BY ${order} LIMIT ${most}`
    : lists.join();

/**
 * SQL for the notes of the lead's tier, and then those of the other. Appended lists keep their order and are read only
 * as far as needed, while a sort by tier would read both to their ends.
 */
const leadFirst = (lead: string, normal: string, most: number): string =>
  `SELECT * FROM ((${lead}) UNION ALL (${normal})) tiers LIMIT ${most}`;

/**
 * SQL of the lists that together have each note of `todo` that has a row: notes without a mark, the note that represents
 * those of a fold, and the notes of folds that are over, whose marks are not taken yet. `list` gives the SQL of the notes
 * `n` that meet its conditions.
 */
export function ownRows(
  bothTiers: boolean,
  list: (conditions: readonly string[]) => string,
): string[] {
  const ofEach = (table: string, condition: string) =>
    `SELECT listed.* FROM ${table} f CROSS JOIN LATERAL (${list([`n.tier = 'normal'`, condition])}) listed`;
  return [
    ...(bothTiers ? [list([`n.tier = 'lead'`])] : []),
    list([`n.tier = 'normal'`, 'n.fold_id IS NULL']),
    ofEach('firsts', 'n.note_id = f.note_id'),
    ofEach('ended_folds', 'n.fold_id = f.fold_id'),
  ];
}

/** SQL: whether the note `n` has a row, as in `ownRows`. */
const HAS_OWN_ROW = `(n.tier = 'lead' OR n.fold_id IS NULL OR n.note_id IN (SELECT note_id FROM firsts)
  OR n.fold_id NOT IN (SELECT fold_id FROM live_folds))`;

interface Order {
  /** The column of the time. */
  at: string;
  newestFirst: boolean;
  byTier: boolean;
}

const orderBy = ({ newestFirst, byTier }: Order): string =>
  `${byTier ? 'tier, ' : ''}at ${newestFirst ? 'DESC' : ''}, note_id`;

/** SQL of the innermost lists: notes of the view after the place, along an index. */
function toList(
  view: View,
  { moderatorId, role }: Viewer,
  filters: Filters,
  after: QueuePlace | undefined,
  order: Order,
  value: Value,
): { source: string; keys: string[]; list: List } {
  const { at, newestFirst, byTier } = order;
  const keys = keysOf(filters, value);
  // Looks given notes up by their keys: a plan in the order of the view may read its whole index for them.
  const source =
    keys.length > 0 ? `(SELECT * FROM notes n WHERE ${keys.join(' AND ')} OFFSET 0) n` : 'notes n';
  const conditions = [where(view, role, filters), `NOT ${hasEnded('n')}`];
  if (filters.like !== undefined) conditions.push('n.member_id IS NULL');
  if (after) {
    const time = value(after.at, 'timestamptz', 'after.at');
    const id = value(after.id, 'uuid', 'after.id');
    if (newestFirst) conditions.push(`${at} <= ${time} AND (${at} < ${time} OR n.note_id > ${id})`);
    else
      conditions.push(
        byTier
          ? `(n.tier, ${at}, n.note_id) > (${value(after.tier, 'text', 'after.tier')}, ${time}, ${id})`
          : `(${at}, n.note_id) > (${time}, ${id})`,
      );
  }
  const leases =
    view === 'mine'
      ? `JOIN note_leases l ON l.note_id = n.note_id AND l.subject_type = 'note'
          AND l.moderator_id = ${value(moderatorId, 'uuid', 'moderator')}
          AND ${isLiveLease('l')}`
      : '';
  const list: List = (from, that, columns, most) =>
    `SELECT n.note_id, ${byTier ? 'n.tier' : `''`} AS tier, ${at} AS at, ${columns}
      FROM ${from} ${leases} WHERE ${all([...conditions, ...that])}
      ORDER BY ${orderBy(order)} LIMIT ${most}`;
  return { source, keys, list };
}

/** The conditions that name notes by their ids. */
function keysOf({ only, same_address_as, like }: Filters, value: Value): string[] {
  const keys: string[] = [];
  if (only) keys.push(`n.note_id = ANY(${value(only.filter(isNoteId), 'uuid[]', 'only')})`);
  if (same_address_as !== undefined)
    keys.push(
      `n.note_id = ANY(ARRAY(SELECT note_id FROM note_addresses WHERE bucket = (
        SELECT bucket FROM note_addresses WHERE note_id = ${value(same_address_as, 'uuid', 'same_address_as')})
        ORDER BY submitted_at DESC LIMIT ${MAX_OF_ADDRESS}))`,
    );
  if (like !== undefined)
    keys.push(`n.note_id = ANY(ARRAY(${likeNote(value(like, 'uuid', 'like'), MAX_OF_ADDRESS)}))`);
  return keys;
}

const isNoteId = (item: string): boolean => !item.includes('/');

const all = (conditions: readonly string[]): string => conditions.join(' AND ') || 'true';

interface Conditions {
  /** The conditions of each scan along an index; together, the scans cover the view. */
  walks: string[][];
  /** The conditions that are checked on each scanned row. */
  fits: string[];
}

/**
 * Splits the filters into conditions of the scans and conditions on their rows. An author's decided
 * notes may be few in a long view, so they are scanned separately: notes of members and of guests
 * have an index each. An age limit bounds the scan if the view is in order of age.
 */
function conditionsOf(view: View, filters: Filters, value: Value): Conditions {
  const { author, q, older_than } = filters;
  const walk: string[] = [];
  const fits = noteConditions(filters, value);
  if (older_than !== undefined)
    (VIEW_SHAPES[view].at === 'n.submitted_at' ? walk : fits).push(
      `n.submitted_at < clock_timestamp() - make_interval(secs => ${value(older_than, 'int', 'older_than')})`,
    );
  if (q !== undefined) {
    // Normalize before escaping: NFKC turns a full-width percent sign into a wildcard of ILIKE.
    const part = value(`%${q.normalize('NFKC').replace(/[\\%_]/g, '\\$&')}%`, 'text', 'q');
    // What the public search finds, moderators find as well; they also find parts of words.
    const { matches, candidates } = toSearchQuery(q);
    const words = candidates ? ` OR n.words @@ ${value(matches, 'tsquery', 'words of q')}` : '';
    fits.push(`(composed(n.message) ILIKE ${part} OR composed(n.name) ILIKE ${part}${words})`);
  }
  const authors = author === undefined ? [] : authorsOf(author, value);
  if (view === 'decided' && authors.length > 0)
    return { walks: authors.map((one) => [...walk, one]), fits };
  if (authors.length > 0) fits.push(`(${authors.join(' OR ')})`);
  return { walks: [walk], fits };
}

/** An id means a member; a name means the member with that handle and the guests of that name. */
function authorsOf(author: string, value: Value): string[] {
  if (UUID.test(author)) return [`n.member_id = ${value(author, 'uuid', 'author')}`];
  const name = value(author, 'text', 'author');
  return [
    `n.member_id = (SELECT member_id FROM members WHERE handle = ${name})`,
    `(n.member_id IS NULL AND n.name = ${name})`,
  ];
}

/** The conditions on a note `n` that are checked on each scanned row; each is bounded by itself. */
function noteConditions(
  { experience, reason, policy, decided_by, state, script, author_record }: Filters,
  value: Value,
): string[] {
  const conditions: string[] = [];
  if (experience !== undefined)
    conditions.push(`n.experience = ${value(experience, 'text', 'experience')}`);
  // Scalar subqueries with a limit: for EXISTS the planner may hash a whole table.
  if (reason !== undefined)
    conditions.push(`(SELECT true FROM note_reports r WHERE r.note_id = n.note_id
      AND r.state = 'open' AND r.reason = ${value(reason, 'text', 'reason')} LIMIT 1)`);
  if (policy !== undefined)
    conditions.push(`n.state IN ('rejected', 'removed') AND (
      SELECT d.policy FROM note_decisions d WHERE d.note_id = n.note_id AND d.undone_at IS NULL
        AND d.decision IN ('rejected', 'removed') ORDER BY d.decided_at DESC LIMIT 1)
      = ${value(policy, 'text', 'policy')}`);
  if (decided_by !== undefined)
    conditions.push(`n.settled_by = ${value(decided_by, 'uuid', 'decided_by')}`);
  if (state !== undefined) conditions.push(`n.state = ${value(state, 'text', 'state')}`);
  if (script !== undefined)
    conditions.push(isInScript(script, (letters) => value(letters, 'text', 'script')));
  if (author_record !== undefined) conditions.push(RECORDS[author_record]);
  return conditions;
}

/** How many of an author's newest decided notes make the record. */
const RECORD_NOTES = 20;

const newestDecided = `SELECT o.state FROM notes o WHERE o.member_id = n.member_id
  AND o.state IN ('approved', 'rejected', 'removed') ORDER BY o.settled_at DESC LIMIT ${RECORD_NOTES}`;

const someDecided = (condition: string): string =>
  `(SELECT true FROM (${newestDecided}) newest WHERE ${condition} LIMIT 1)`;

const APPROVED = someDecided(`state = 'approved'`);
const REFUSED = someDecided(`state <> 'approved'`);

const RECORDS: Readonly<Record<AuthorRecord, string>> = {
  guest: 'n.member_id IS NULL',
  new: `n.member_id IS NOT NULL AND ${APPROVED} IS NULL`,
  clean: `n.member_id IS NOT NULL AND ${APPROVED} AND ${REFUSED} IS NULL`,
  mixed: `n.member_id IS NOT NULL AND ${REFUSED}`,
};
