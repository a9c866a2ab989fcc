import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { locking, named, type Sql } from '../../../platform/sql.ts';
import type { ModeratorRow } from '../../../projections/moderation/moderators.ts';

type Moderator = Pick<PrincipalOf<'moderator'>, 'moderatorId' | 'sessionId' | 'tokenHash'>;

/**
 * The credential that authenticated a request. A rotation changes the token's hash, and a sign-out
 * deletes the session; both wait for the lock. A session's time of last use may still change.
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

/** The caller, if still active and authenticated; locked as such until the transaction ends. */
export const shareLockModerator = (me: Moderator): Sql<ModeratorRow> =>
  locking(proven(me, 'FOR SHARE OF m'), { shared: [`moderator-${me.moderatorId}`] });

/** Like `shareLockModerator`, and makes other claims of this moderator wait. */
export const lockModerator = (me: Moderator): Sql<ModeratorRow> =>
  locking(proven(me, 'FOR UPDATE OF m'));

function proven({ moderatorId, sessionId, tokenHash }: Moderator, lock: string): Sql<ModeratorRow> {
  const proof = sessionId === null ? TOKEN : SESSION;
  return named(
    `SELECT m.* FROM moderators m JOIN ${proof.join}
      WHERE m.moderator_id = $1::uuid AND m.state = 'active' ${lock} ${proof.lock}`,
    [moderatorId, sessionId ?? tokenHash],
  );
}
