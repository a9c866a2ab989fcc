import * as artifactEvents from '../../domain/artifacts/events.ts';
import * as caseEvents from '../../domain/cases/events.ts';
import * as noteEvents from '../../domain/guestbook/events.ts';
import { noteStream } from '../../domain/guestbook/streams.ts';
import * as profileEvents from '../../domain/profiles/events.ts';
import { defineInsert } from '../../platform/batch-statements.ts';
import type { Actor, RecordedEvent } from '../../platform/eventstore/event.ts';
import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { ENDING, noteStays, stays } from '../membership/ending.ts';
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

/** Hides from the public which moderator acted. */
const shown = (actor: Actor): Actor => (actor.type === 'moderator' ? { type: actor.type } : actor);

/** The operator acts on memberships only, which are not public. */
type PublicActor = Actor & { type: Exclude<Actor['type'], 'operator'> };

const insertEntry = defineInsert('activity', {
  entry_id: 'uuid',
  type: 'text',
  occurred_at: 'timestamptz',
  actor: 'jsonb',
  subject_type: 'text',
  subject_id: 'uuid',
});

function entry({ event_id, actor, recorded_at }: RecordedEvent, type: ActivityType, id: string) {
  return insertEntry({
    entry_id: event_id,
    type,
    occurred_at: recorded_at,
    actor: shown(actor),
    subject_type: type.split('.')[0],
    subject_id: id,
  });
}

/**
 * An appeal granted against a rejection makes the note public for the first time. A note that was
 * removed has its entry already.
 */
function granted(event: EventOf<typeof noteEvents, 'AppealGranted'>) {
  const { event_id, owner_id, actor, recorded_at, data } = event;
  return sql`INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id)
    SELECT ${event_id}::uuid, 'note.approved', ${recorded_at}::timestamptz, ${shown(actor)}::jsonb,
      'note', ${data.note_id}::uuid
    FROM events WHERE owner_id = ${owner_id} AND stream_id = ${noteStream(data.note_id)}
      AND event_id = ${data.of} AND type = 'NoteRejected'`;
}

/** Hides the entries of a subject that never becomes public again, so that no list walks past them. */
const hide = (type: string, id: string): Sql =>
  sql`UPDATE activity SET hidden = true
    WHERE subject_id = ${id} AND subject_type = ${type} AND NOT hidden`;

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
      DecisionUndone: ({ data }) => sql`DELETE FROM activity WHERE entry_id = ${data.of}`,
      NoteWithdrawn: ({ data }) => hide('note', data.note_id),
      NoteErased: ({ data }) => hide('note', data.note_id),
      ProfilePublished: (event) => [
        hide('profile', event.owner_id),
        entry(event, 'profile.published', event.owner_id),
      ],
      ProfileWithdrawn: ({ owner_id }) => hide('profile', owner_id),
      ArtifactPublished: (event) => entry(event, 'artifact.published', event.data.artifact_id),
      ArtifactWithdrawn: ({ data }) => hide('artifact', data.artifact_id),
      CaseOpened: (event) => entry(event, 'case.opened', event.data.case_id),
      CaseClaimed: (event) => entry(event, 'case.claimed', event.data.case_id),
      CaseSubmitted: (event) => entry(event, 'case.submitted', event.data.case_id),
      CaseAccepted: (event) => entry(event, 'case.accepted', event.data.case_id),
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
 * Skips what a member wrote whose account has just been closed before its subject is looked up: there
 * may be many such entries until the worker has ended them.
 */
const NOT_BY_LEAVING = `(a.actor->>'id' = ANY (${ENDING}::text[])
    AND a.type IN ('profile.published', 'artifact.published', 'case.opened')) IS NOT TRUE`;

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
 * A read of one type compares times without a zone, which only the index by type has. With the
 * other times the planner may scan all types, and for a rare or old type it then reads every newer
 * entry.
 */
export function publicActivity(
  type: ActivityType | undefined,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<ActivityRow> {
  const rows = Math.trunc(limit);
  const known = ACTIVITY_TYPES.find((each) => each === type);
  const zone = known ? ` AT TIME ZONE 'UTC'` : '';
  return {
    name: `activity-${known ?? 'all'}-${rows}`,
    text: `SELECT a.*, ${TITLE} AS title, ${AT} AS place FROM activity a ${SUBJECTS}
      WHERE NOT a.hidden AND ${NOT_BY_LEAVING}
        AND (a.occurred_at${zone}, a.entry_id) < ($1::timestamptz${zone}, $2::uuid)
        ${known ? `AND a.type = '${known}'` : ''} AND ${TITLE} IS NOT NULL
      ORDER BY a.occurred_at${zone} DESC, a.entry_id DESC LIMIT ${rows}`,
    values: [at, id],
  };
}
