import type pg from 'pg';
import { fault } from '../fault.ts';
import type { Engine } from '../postgres/engine.ts';
import { pipeline } from '../postgres/pipeline.ts';
import { snapshot } from '../postgres/reads.ts';
import type { Sql } from '../sql.ts';
import { findEvent } from './append.ts';
import type { RecordedEvent } from './event.ts';
import { type LogServer, logServers } from './log-epochs.ts';
import { findMark, MARKS_KEPT_HOURS } from './write-marks.ts';

/** More than commits that are acknowledged at the same time, whose order is not that of the log. */
const REMEMBERED_COMMITS = 32;
/** From this age on, in milliseconds, an event is visible on every node. */
const SURELY_VISIBLE_MS = (MARKS_KEPT_HOURS / 2) * 3_600_000;

/** Runs statements in one round trip and resolves to the rows of each. */
type Ask = (statements: readonly Sql[]) => Promise<readonly (readonly unknown[])[]>;

/** The first event of a commit, and the engine that committed it. */
interface Acknowledged {
  event: RecordedEvent;
  engine: Engine;
}

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
  let remembered: readonly Acknowledged[] = [];
  /** Whether events that this process has acknowledged are missing. */
  let missing = false;
  /** Whether the log is on another server than that of its epoch; undefined until a server has answered. */
  let elsewhere: boolean | undefined;
  const isLost = () => missing || elsewhere === true;

  async function check(ask: Ask): Promise<void> {
    // With this fault, the checker of the proof has to detect the loss itself.
    if (fault('no-sync-wait')) return;
    const before = isLost();
    // Read now: what is acknowledged while the statements run may be missing from their snapshot.
    const commits = remembered;
    const [servers = [], ...found] = await ask([logServers(), ...commits.map(witnessOf)]);
    const [row] = servers as ReturnType<typeof logServers>['row'][];
    // A standby may lag behind, and takes no writes.
    if (row?.present) {
      elsewhere = isElsewhere(row.noted, row.present);
      missing = commits.some(
        ({ event }, at) => event.recorded_at > row.began_at && found[at]?.length === 0,
      );
    }
    if (isLost() && !before) onLoss(missing ? MISSING : ELSEWHERE);
  }

  function witnessOf({ event, engine }: Acknowledged): Sql {
    const isMarked =
      engine.distributed && Date.now() - event.recorded_at.getTime() < SURELY_VISIBLE_MS;
    return isMarked ? findMark(event.event_id) : findEvent(event);
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
    /** Remembers the events of one commit that was acknowledged. */
    acknowledged([event]: readonly RecordedEvent[], engine: Engine): void {
      // While the log is lost, what was acknowledged before shows whether an epoch has begun.
      if (event && !isLost())
        remembered = [...remembered, { event, engine }].slice(-REMEMBERED_COMMITS);
    },
    /** Compares the database that answers with what this process knows of the log. */
    check: (pool: pg.Pool): Promise<void> =>
      check((statements) => snapshot<unknown[]>(pool, statements)),
    /** Does the same on a new connection, before it is used: it may lead to another server. */
    onConnect: (client: pg.ClientBase): Promise<void> =>
      check((statements) => pipeline(client, statements)),
    isLost,
  };
}
