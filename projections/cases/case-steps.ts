import { named, type Sql } from '../../platform/sql.ts';

/** An event that changed who holds a case. */
export interface CaseStep {
  event_id: string;
  type: string;
  recorded_at: Date;
  data: { member_id: string; lease_expires_at: string };
}

/** Reads the newest changes of who holds a case, newest first. Anonymous reads may use it: it is no read of the log. */
export const newestSteps = (authorId: string, stream: string, limit: number): Sql<CaseStep> =>
  named(
    `SELECT event_id, type, recorded_at,
       jsonb_build_object('member_id', member_id, 'lease_expires_at', lease_expires_at) AS data
     FROM case_steps WHERE owner_id = $1 AND stream_id = $2 ORDER BY stream_version DESC LIMIT $3`,
    [authorId, stream, limit],
  );
