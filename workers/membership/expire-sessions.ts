import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import {
  type Command,
  defineCommand,
  handle,
  NOTHING_TO_DO,
} from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { dropOldEndedVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { endSession } from '../../services/membership/login.ts';
import {
  dropEndedSessions,
  endSessions,
  overdueSessions,
} from '../../services/membership/sessions.ts';
import { BATCH_SIZE, drainBatches, forEachInBatches } from '../running/batches.ts';

interface Overdue {
  session_id: string;
  member_id: string;
}

/** Deletes sessions and verifiers of credentials that ended long ago. Returns how many. */
export async function sweepSessions({ pool, config }: SweepDeps): Promise<number> {
  const days = config.retentionSessionsDays;
  const sessions = await drainBatches(pool, () => dropEndedSessions(days, BATCH_SIZE));
  return sessions + (await drainBatches(pool, () => dropOldEndedVerifiers(BATCH_SIZE)));
}

interface SweepDeps {
  pool: pg.Pool;
  config: Pick<Config, 'retentionSessionsDays'>;
}

/** Records the expiry of every overdue session in the log; returns how many it recorded. */
export function expireSessions({ store }: { store: EventStore }): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, overdueSessions(limit)),
    (row) => handle(store, SERVICE_ACTOR, expireCommand(row)),
  );
}

function expireCommand({ session_id, member_id }: Overdue): Command<boolean> {
  return defineCommand({
    lock: [member_id],
    load: { overdue: stillOverdue(session_id) },
    decide({ overdue }, now) {
      if (overdue.length !== 1) return NOTHING_TO_DO;
      return {
        appends: [endSession(member_id, session_id, 'expired')],
        rows: [endSessions([session_id], now)],
        reply: () => true,
      };
    },
  });
}

/** Finds the session by its key only, like a live session; OFFSET 0 rules out other indexes. */
function stillOverdue(sessionId: string): Sql {
  return sql`SELECT session_id
    FROM (SELECT * FROM sessions WHERE session_id = ${sessionId} OFFSET 0) session
    WHERE ended_at IS NULL AND expires_at <= clock_timestamp()`;
}
