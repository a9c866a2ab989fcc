import type pg from 'pg';
import { fault } from '../fault.ts';
import { type Sql, sql } from '../sql.ts';
import type { RecordedEvent } from './event.ts';

/** More than commands that are acknowledged at the same time, whose order is not that of the log. */
const REMEMBERED_EVENTS = 32;

type Ask = (statement: Sql<{ missing: number }>) => Promise<readonly { missing: number }[]>;

export type LogWatch = ReturnType<typeof createLogWatch>;

/**
 * Notices that the log was restored, or a standby promoted that lacked commits, although no epoch
 * began: events that this process has acknowledged are missing. `onLoss` is called when that is
 * noticed. It ends when an epoch begins. See docs/operating/backup.md.
 */
export function createLogWatch(onLoss: () => void) {
  let remembered: readonly RecordedEvent[] = [];
  let lost = false;

  async function check(ask: Ask): Promise<void> {
    // With this fault, the checker of the proof has to detect the loss itself.
    if (remembered.length === 0 || fault('no-sync-wait')) return;
    const [row] = await ask(missingEvents(remembered));
    const missing = (row?.missing ?? 0) > 0;
    if (missing && !lost) onLoss();
    lost = missing;
  }

  return {
    /** Remembers events whose commit was acknowledged. */
    acknowledged(events: readonly RecordedEvent[]): void {
      // While the log is lost, what was acknowledged before shows whether an epoch has begun.
      if (!lost) remembered = [...remembered, ...events].slice(-REMEMBERED_EVENTS);
    },
    /** Looks for the remembered events in the database that answers. */
    check,
    /** Looks for them on a new connection, before it is used: it may lead to another server. */
    onConnect: (client: pg.ClientBase): Promise<void> =>
      check(async (statement) => (await client.query<{ missing: number }>(statement)).rows),
    isLost: (): boolean => lost,
  };
}

/** A standby may lag behind, and takes no writes. `OFFSET 0` forces a lookup for each event. */
function missingEvents(events: readonly RecordedEvent[]): Sql<{ missing: number }> {
  return sql`SELECT count(*)::int AS missing FROM unnest(${events.map((one) => one.owner_id)}::uuid[],
      ${events.map((one) => one.stream_id)}::text[], ${events.map((one) => one.stream_version)}::int[],
      ${events.map((one) => one.event_id)}::uuid[],
      ${events.map((one) => one.recorded_at)}::timestamptz[])
      AS one (owner_id, stream_id, stream_version, event_id, recorded_at)
    WHERE NOT pg_is_in_recovery()
      AND one.recorded_at > (SELECT began_at FROM log_epochs ORDER BY epoch DESC LIMIT 1)
      AND NOT EXISTS (SELECT FROM (SELECT event_id FROM events WHERE owner_id = one.owner_id
        AND stream_id = one.stream_id AND stream_version = one.stream_version OFFSET 0) found
        WHERE found.event_id = one.event_id)`;
}
