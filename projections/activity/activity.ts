import * as artifactEvents from '../../domain/artifacts/events.ts';
import * as caseEvents from '../../domain/cases/events.ts';
import * as noteEvents from '../../domain/guestbook/events.ts';
import * as profileEvents from '../../domain/profiles/events.ts';
import { defineInsert } from '../../platform/batch-statements.ts';
import type { Actor, RecordedEvent } from '../../platform/eventstore/event.ts';
import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { noteStays, stays } from '../membership/ending.ts';
import { defineProjection, type EventOf } from '../projection.ts';

export const ACTIVITY_TYPES = [
  'note.approved',
  'profile.published',
  'artifact.published',
  'case.opened',
  'case.claimed',
  'case.submitted',
  'case.accepted',
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/** Hides from the public which moderator acted, and that the operator imported a note. */
function shown(actor: Actor): Actor {
  if (actor.type === 'operator') return { type: 'service' };
  return actor.type === 'moderator' ? { type: actor.type } : actor;
}

/** The public sees the operator as the service. */
type PublicActor = Actor & { type: Exclude<Actor['type'], 'operator'> };

const insertEntry = defineInsert('activity', {
  entry_id: 'uuid',
  type: 'text',
  occurred_at: 'timestamptz',
  actor: 'jsonb',
  subject_type: 'text',
  subject_id: 'uuid',
  author_id: 'uuid',
});

/** The member who wrote the subject; null if a guest did, whose note owns its own stream. */
const authorOf = (owner: string, subject: string, type: string): string | null =>
  type === 'note' && owner === subject ? null : owner;

function entry(event: RecordedEvent, type: ActivityType, id: string) {
  const { event_id, owner_id, actor, recorded_at } = event;
  const subject = type.split('.')[0] as string;
  return insertEntry({
    entry_id: event_id,
    type,
    occurred_at: recorded_at,
    actor: shown(actor),
    subject_type: subject,
    subject_id: id,
    author_id: authorOf(owner_id, id, subject),
  });
}

/**
 * An appeal granted against a rejection makes the note public for the first time. A note that was
 * removed has its entry already.
 */
function granted(event: EventOf<typeof noteEvents, 'AppealGranted'>): Sql[] {
  const { event_id, owner_id, actor, recorded_at, data } = event;
  const author = authorOf(owner_id, data.note_id, 'note');
  return [
    takeDown('note', data.note_id, false),
    sql`INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id, author_id)
      SELECT ${event_id}::uuid, 'note.approved', ${recorded_at}::timestamptz,
        ${shown(actor)}::jsonb, 'note', ${data.note_id}::uuid, ${author}::uuid
      WHERE NOT EXISTS (SELECT FROM activity
        WHERE subject_id = ${data.note_id} AND subject_type = 'note')`,
  ];
}

/**
 * Undoing an approval drops its entry. Undoing an appeal that was granted against a removal takes the note
 * down again; the undo of a removal has an event after it that makes the note public.
 */
function undone({ data }: EventOf<typeof noteEvents, 'DecisionUndone'>): Sql[] {
  const removed = data.decision === 'granted' && data.refused?.state === 'removed';
  return [
    sql`DELETE FROM activity WHERE entry_id = ${data.of}`,
    ...(removed ? [takeDown('note', data.note_id, true)] : []),
  ];
}

/** Hides the entries of a subject that never becomes public again, so that no list walks past them. */
const hide = (type: string, id: string): Sql =>
  sql`UPDATE activity SET hidden = true
    WHERE subject_id = ${id} AND subject_type = ${type} AND NOT hidden`;

/** Leaves out the entries of a subject that moderators removed, until they restore it. */
const takeDown = (type: string, id: string, removed: boolean): Sql =>
  sql`UPDATE activity SET taken_down = ${removed}
    WHERE subject_id = ${id} AND subject_type = ${type} AND NOT hidden AND taken_down <> ${removed}`;

/**
 * Public events. An event of another capability needs one more line here and a join in `SUBJECTS`.
 */
export const activity = defineProjection(
  { ...noteEvents, ...profileEvents, ...artifactEvents, ...caseEvents },
  {
    name: 'activity',
    tables: ['activity'],
    on: {
      NoteApproved: (event) => entry(event, 'note.approved', event.data.note_id),
      AppealGranted: granted,
      NoteRemoved: ({ data }) => takeDown('note', data.note_id, true),
      NoteRestored: ({ data }) => takeDown('note', data.note_id, false),
      DecisionUndone: undone,
      NoteWithdrawn: ({ data }) => hide('note', data.note_id),
      NoteErased: ({ data }) => hide('note', data.note_id),
      ProfilePublished: (event) => [
        hide('profile', event.owner_id),
        entry(event, 'profile.published', event.owner_id),
      ],
      ProfileRemoved: ({ owner_id }) => takeDown('profile', owner_id, true),
      ProfileRestored: ({ owner_id }) => takeDown('profile', owner_id, false),
      ProfileWithdrawn: ({ owner_id }) => hide('profile', owner_id),
      ArtifactPublished: (event) => entry(event, 'artifact.published', event.data.artifact_id),
      ArtifactRemoved: ({ data }) => takeDown('artifact', data.artifact_id, true),
      ArtifactRestored: ({ data }) => takeDown('artifact', data.artifact_id, false),
      ArtifactWithdrawn: ({ data }) => hide('artifact', data.artifact_id),
      CaseOpened: (event) => entry(event, 'case.opened', event.data.case_id),
      CaseClaimed: (event) => entry(event, 'case.claimed', event.data.case_id),
      CaseSubmitted: (event) => entry(event, 'case.submitted', event.data.case_id),
      CaseAccepted: (event) => entry(event, 'case.accepted', event.data.case_id),
      CaseRemoved: ({ data }) => takeDown('case', data.case_id, true),
      CaseRestored: ({ data }) => takeDown('case', data.case_id, false),
      CaseWithdrawn: ({ data }) => hide('case', data.case_id),
      CaseAuthorLeft: ({ data }) => hide('case', data.case_id),
    },
  },
);

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
