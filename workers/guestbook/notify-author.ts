import type { z } from 'zod';
import type { tellAuthor } from '../../domain/guestbook/jobs.ts';
import { noteStream } from '../../domain/guestbook/words.ts';
import type { Config } from '../../platform/config.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { findNote, type NoteRow } from '../../projections/guestbook/notes.ts';
import {
  type AnnouncedDecision,
  notifyAuthorCommand,
} from '../../services/guestbook/notify-author.ts';

interface Deps {
  store: EventStore;
  config: Pick<Config, 'undoWindowSeconds'>;
}

/** Notifies the members concerned of a decision that is still in force; returns whether it did. */
export async function notifyAuthor(
  { store, config }: Deps,
  { note_id, version }: z.infer<typeof tellAuthor.schema>,
): Promise<boolean> {
  const [row] = await query(store.pool, findNote(note_id));
  if (!row) return false;
  const [event] = await query(store.pool, eventOf(row, version));
  if (!event) return false;
  const command = notifyAuthorCommand(row, event, config.undoWindowSeconds);
  return handle(store, SERVICE_ACTOR, command);
}

function eventOf({ note_id, owner_id }: NoteRow, version: number): Sql<AnnouncedDecision> {
  return sql`SELECT event_id AS "eventId", data->'refused'->>'of' AS "refusedAgain" FROM events WHERE owner_id = ${owner_id}
    AND stream_id = ${noteStream(note_id)} AND stream_version = ${version}`;
}
