import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { locking, named, type Sql } from '../../../platform/sql.ts';
import type { ModeratorRow } from '../../../projections/moderation/moderators.ts';

type Moderator = Pick<PrincipalOf<'moderator'>, 'moderatorId' | 'sessionId' | 'tokenHash'>;

/**
 * What a request proved itself with. A rotation changes the hash, a sign-out drops the session; a
 * session's time of use may change meanwhile.
 */
const TOKEN = {
  join: `verifiers p ON p.owner_id = m.moderator_id AND p.purpose = 'moderator'
    AND p.subject_id = m.moderator_id AND p.hash = $2`,
  lock: 'FOR SHARE OF p',
};
const SESSION = {
  join: 'moderator_sessions p ON p.moderator_id = m.moderator_id AND p.session_id = $2::uuid',
  lock: 'FOR KEY SHARE OF p',
};

/** Who asks, if still active and still proven; kept so until the transaction ends. */
export const holdProven = (me: Moderator): Sql<ModeratorRow> => proven(me, 'FOR SHARE OF m');

/** The same; whoever else claims for this moderator waits. */
export const lockProven = (me: Moderator): Sql<ModeratorRow> => proven(me, 'FOR UPDATE OF m');

function proven({ moderatorId, sessionId, tokenHash }: Moderator, lock: string): Sql<ModeratorRow> {
  const by = sessionId === null ? TOKEN : SESSION;
  const statement = named<ModeratorRow>(
    `SELECT m.* FROM moderators m JOIN ${by.join}
      WHERE m.moderator_id = $1::uuid AND m.state = 'active' ${lock} ${by.lock}`,
    [moderatorId, sessionId ?? tokenHash],
  );
  return locking(statement);
}
