import type pg from 'pg';
import { fault } from '../fault.ts';
import { type Sql, sql } from '../sql.ts';
import type { RecordedEvent } from './event.ts';
import { type LogServer, logServers } from './log-epochs.ts';

/** More than commands that are acknowledged at the same time, whose order is not that of the log. */
const REMEMBERED_EVENTS = 32;

type Ask = <Row>(statement: Sql<Row>) => Promise<readonly Row[]>;

export type LogWatch = ReturnType<typeof createLogWatch>;

const MISSING = 'acknowledged writes are lost: npm run restored';
const ELSEWHERE =
  'the log is not on the server of its epoch, so acknowledged writes may be lost: npm run restored, or npm run restored -- --nothing-lost';

/**
 * Notices that the log was restored, or a standby promoted that lacked commits, although no epoch
 * began: events that this process has acknowledged are missing; or the process was started on another server or
 * timeline than the epoch notes, and has nothing to compare. `onLoss` is called with a line for the operator. The
 * loss ends when an epoch begins or the server is noted. See docs/operating/backup.md.
 */
export function createLogWatch(onLoss: (line: string) => void) {
  let remembered: readonly RecordedEvent[] = [];
  /** Whether events that this process has acknowledged are missing. */
  let missing = false;
  /** Whether the log is on another server than that of its epoch; undefined until a server has answered. */
  let elsewhere: boolean | undefined;
  const isLost = () => missing || elsewhere === true;

  async function check(ask: Ask): Promise<void> {
    // With this fault, the checker of the proof has to detect the loss itself.
    if (fault('no-sync-wait')) return;
    const before = isLost();
    const [servers] = await ask(logServers());
    if (servers?.present) elsewhere = isElsewhere(servers.noted, servers.present);
    if (remembered.length > 0) {
      const [row] = await ask(missingEvents(remembered));
      missing = (row?.missing ?? 0) > 0;
    }
    if (isLost() && !before) onLoss(missing ? MISSING : ELSEWHERE);
  }

  /**
   * A process that has seen the log before a promotion goes on as long as what it acknowledged is there. One that
   * starts after a promotion cannot tell whether the standby had everything.
   */
  function isElsewhere(noted: LogServer, present: LogServer): boolean {
    if (noted.system !== present.system) return true;
    return noted.timeline !== present.timeline && elsewhere !== false;
  }

  return {
    /** Remembers events whose commit was acknowledged. */
    acknowledged(events: readonly RecordedEvent[]): void {
      // While the log is lost, what was acknowledged before shows whether an epoch has begun.
      if (!isLost()) remembered = [...remembered, ...events].slice(-REMEMBERED_EVENTS);
    },
    /** Compares the database that answers with what this process knows of the log. */
    check,
    /** Does the same on a new connection, before it is used: it may lead to another server. */
    onConnect: (client: pg.ClientBase): Promise<void> =>
      check(
        async <Row>({ text, values }: Sql<Row>) => (await client.query(text, values)).rows as Row[],
      ),
    isLost,
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
