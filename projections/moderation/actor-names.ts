import type { Actor, RecordedEvent } from '../../platform/eventstore/event.ts';
import { type Sql, sql } from '../../platform/sql.ts';

export interface ModeratorName {
  moderator_id: string;
  /** Null after erasure. */
  name: string | null;
}

/** The name of the moderator who caused an event, or null. */
export interface NamedActor {
  actor_name: string | null;
}

export type NamedEvent = RecordedEvent & NamedActor;

/** Reads the names of all moderators, also former ones: a service has a few. */
export function moderatorNames(): Sql<ModeratorName> {
  return sql`SELECT moderator_id, name FROM moderators`;
}

/** Adds the moderator's name to each event. */
export function nameActors<Row extends { actor: Actor }>(
  rows: readonly Row[],
  moderators: readonly ModeratorName[],
): (Row & NamedActor)[] {
  const names = new Map(moderators.map(({ moderator_id, name }) => [moderator_id, name]));
  const nameOf = ({ type, id = '' }: Actor) => (type === 'moderator' ? names.get(id) : undefined);
  return rows.map((row) => ({ ...row, actor_name: nameOf(row.actor) ?? null }));
}
