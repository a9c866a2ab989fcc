import type { Actor, EventTypes, RecordedEvent } from '../platform/eventstore/event.ts';
import { defineInsert } from '../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../platform/sql.ts';
import { defineProjection, type Handlers, type Projection } from './projection.ts';

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

/**
 * What the events of a capability change in the public activity. A new kind of subject also needs a join
 * in `SUBJECTS` (activity.ts).
 */
export type ActivityEntries = Projection['on'];

export const defineActivity = <Modules extends EventTypes>(
  modules: Modules,
  on: Handlers<Modules>,
): ActivityEntries => defineProjection(modules, { name: 'activity', tables: ['activity'], on }).on;

/** Hides from the public which moderator acted, and that the operator imported a note. */
export function shownActor(actor: Actor): Actor {
  if (actor.type === 'operator') return { type: 'service' };
  return actor.type === 'moderator' ? { type: actor.type } : actor;
}

const insertEntry = defineInsert('activity', {
  entry_id: 'uuid',
  type: 'text',
  occurred_at: 'timestamptz',
  actor: 'jsonb',
  subject_type: 'text',
  subject_id: 'uuid',
  author_id: 'uuid',
});

/** Adds an entry about a subject of the event's owner, or of `author` where it is given. */
export function addEntry(
  event: RecordedEvent,
  type: ActivityType,
  id: string,
  author: string | null = event.owner_id,
): Sql {
  return insertEntry({
    entry_id: event.event_id,
    type,
    occurred_at: event.recorded_at,
    actor: shownActor(event.actor),
    subject_type: type.split('.')[0],
    subject_id: id,
    author_id: author,
  });
}

/** Hides the entries of a subject that never becomes public again, so that no list walks past them. */
export const hideEntries = (type: string, id: string): Sql =>
  sql`UPDATE activity SET hidden = true
    WHERE subject_id = ${id} AND subject_type = ${type} AND NOT hidden`;

/** Leaves out the entries of a subject that moderators removed, until they restore it. */
export const takeDownEntries = (type: string, id: string, removed: boolean): Sql =>
  sql`UPDATE activity SET taken_down = ${removed}
    WHERE subject_id = ${id} AND subject_type = ${type} AND NOT hidden AND taken_down <> ${removed}`;
