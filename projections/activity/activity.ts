import type { Actor } from '../../platform/eventstore/event.ts';
import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import type { Sql } from '../../platform/sql.ts';
import { ACTIVITY_TYPES, type ActivityEntries, type ActivityType } from '../activity-entry.ts';
import { noteStays, stays } from '../membership/members.ts';
import type { Projection } from '../projection.ts';

/** Public events, which each capability turns into entries. */
export const activity = (features: readonly ActivityEntries[]): Projection => ({
  name: 'activity',
  tables: ['activity'],
  on: Object.assign({}, ...features),
});

/** The public sees the operator as the service. */
type PublicActor = Actor & { type: Exclude<Actor['type'], 'operator'> };

export interface ActivityRow {
  entry_id: string;
  type: ActivityType;
  occurred_at: Date;
  actor: PublicActor;
  subject_type: string;
  subject_id: string;
  title: string;
  place: string;
}

const AT = `to_char(a.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Joins each kind of subject, if it is public. */
const SUBJECTS = `
  LEFT JOIN cases c ON a.subject_type = 'case' AND c.case_id = a.subject_id
    AND c.state <> 'withdrawn' AND NOT c.removed AND NOT c.author_gone AND ${stays('c.author_id')}
  LEFT JOIN notes n ON a.subject_type = 'note' AND n.note_id = a.subject_id
    AND n.state = 'approved' AND ${noteStays('n.member_id')}
    AND (n.parent_id IS NULL
      OR EXISTS (SELECT FROM notes r WHERE r.note_id = n.parent_id AND r.state = 'approved'
        AND ${noteStays('r.member_id')}))
  LEFT JOIN profiles p ON a.subject_type = 'profile' AND p.member_id = a.subject_id
    AND p.state = 'published' AND p.published_at = a.occurred_at
  LEFT JOIN artifacts f ON a.subject_type = 'artifact' AND f.artifact_id = a.subject_id
    AND f.state = 'published' AND ${stays('f.author_id')}`;

/**
 * Skips what a member wrote whose account was closed: until the worker has ended them, there may be many
 * such entries, which the index alone shows. Public notes end only if the member asked for it.
 */
const staysListed = (type: ActivityType | undefined): string => {
  if (type === 'note.approved') return noteStays('author_id');
  if (type) return stays('author_id');
  return `(type = 'note.approved' OR ${stays('author_id')}) AND ${noteStays('author_id')}`;
};

/** Null if the subject is not public or its text was erased. */
const TITLE = `coalesce(c.title, f.title, p.display_name,
  left(btrim(regexp_replace(n.message, '\\s+', ' ', 'g')), 80))`;

/**
 * Reads public activity, newest first. Title and visibility come from the subject's own read model,
 * so an entry disappears when its subject is removed, and returns with the subject. The title of a
 * note is its beginning. A profile has only the entry of its current publication.
 *
 * Type and limit are part of the text, so that each pair is its own prepared statement: PostgreSQL
 * estimates an unknown limit as a tenth of the table and then plans these joins on every call,
 * which costs more than running them.
 *
 * The inner select needs an index alone, and finds entries of one type as a range: with `type = `, a plan
 * may walk the newer entries of all types.
 */
export function publicActivity(
  type: ActivityType | undefined,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<ActivityRow> {
  const rows = Math.trunc(limit);
  const known = ACTIVITY_TYPES.find((each) => each === type);
  const [typed, ofType] = known ? ['type, ', `'${known}', `] : ['', ''];
  const newestFirst = (alias: string) =>
    `ORDER BY ${known ? `${alias}.type DESC, ` : ''}${alias}.occurred_at DESC, ${alias}.entry_id DESC`;
  return {
    name: `activity-${known ?? 'all'}-${rows}`,
    text: `SELECT a.*, ${TITLE} AS title, ${AT} AS place
      FROM (SELECT type, occurred_at, entry_id FROM activity
        WHERE NOT hidden AND NOT taken_down AND ${staysListed(known)}
          ${known ? `AND type >= '${known}'` : ''}
          AND (${typed}occurred_at, entry_id) < (${ofType}$1::timestamptz, $2::uuid)
        ${newestFirst('activity')} OFFSET 0) listed
      JOIN activity a USING (entry_id) ${SUBJECTS}
      WHERE ${TITLE} IS NOT NULL
      ${newestFirst('listed')} LIMIT ${rows}`,
    values: [at, id],
  };
}
