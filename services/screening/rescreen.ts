import { rescreeningJob } from '../../domain/guestbook/jobs.ts';
import { RULES_VERSION } from '../../domain/screening/rules.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { type NoteToScreen, notesToScreen } from '../../projections/screening/screenings.ts';

/** Notes per job; a job must end long before it expires and is given to another worker. */
const BATCH = 50;

/**
 * Enqueues a screening of every pending note that the current rules have not screened; returns the
 * number of notes. Notes decided in the meantime are skipped, and a duplicate job has no effect.
 */
export async function rescreen(store: EventStore): Promise<number> {
  let after: NoteToScreen | undefined;
  for (let count = 0; ; ) {
    const notes = await query(store.pool, notesToScreen(RULES_VERSION, BATCH, after));
    const jobs = notes.length > 0 ? [rescreeningJob(notes.map(({ note_id }) => note_id))] : [];
    await handle(store, SERVICE_ACTOR, {
      load: {},
      decide: () => ({ appends: [], jobs, reply: () => true }),
    });
    count += notes.length;
    if (notes.length < BATCH) return count;
    after = notes.at(-1);
  }
}
