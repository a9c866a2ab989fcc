import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { defineRead } from '../../../platform/postgres/batch-statements.ts';
import { locking, type Sql } from '../../../platform/sql.ts';
import type { ModeratorRow } from '../../../projections/moderation/moderators.ts';

type Moderator = Pick<PrincipalOf<'moderator'>, 'moderatorId' | 'sessionId' | 'tokenHash'>;

/**
 * The credential that authenticated a request. A rotation changes the token's hash, and a sign-out
 * deletes the session; both wait for the lock. A session's time of last use may still change.
 */
interface Proof {
  join(presented: string): string;
  lock: string;
}
const TOKEN: Proof = {
  join: (hash) => `verifiers p ON p.owner_id = m.moderator_id AND p.purpose = 'moderator'
    AND p.subject_id = m.moderator_id AND p.hash = ${hash}`,
  lock: 'FOR SHARE OF p',
};
const SESSION: Proof = {
  join: (id) => `moderator_sessions p ON p.moderator_id = m.moderator_id AND p.session_id = ${id}`,
  lock: 'FOR KEY SHARE OF p',
};

/**
 * How a command locks its moderator: `shared` with others of the moderator, or so that they wait for each other and a limit
 * holds. Only a command that is `alone` never shares a transaction with those of other moderators.
 */
export type ModeratorLock = 'shared' | 'exclusive' | 'alone';

/** The caller, if still active and authenticated; locked until the transaction ends. */
export function lockModerator(me: Moderator, lock: ModeratorLock): Sql<ModeratorRow> {
  const read = lock === 'shared' ? forShare(me) : forUpdate(me);
  return locking(read, lock === 'alone' ? lock : { [lock]: [`moderator-${me.moderatorId}`] });
}

const TOKEN_KEY = { moderator: 'uuid', presented: 'text' };
const SESSION_KEY = { moderator: 'uuid', presented: 'uuid' };

function lockedBy(locked: string): (me: Moderator) => Sql<ModeratorRow> {
  const proven =
    ({ join, lock }: Proof) =>
    ({ moderator, presented }: Record<keyof typeof TOKEN_KEY, string>) =>
      `SELECT m.* FROM moderators m JOIN ${join(presented)}
        WHERE m.moderator_id = ${moderator} AND m.state = 'active' ${locked} ${lock}`;
  const byToken = defineRead<ModeratorRow, typeof TOKEN_KEY>(TOKEN_KEY, proven(TOKEN));
  const bySession = defineRead<ModeratorRow, typeof SESSION_KEY>(SESSION_KEY, proven(SESSION));
  return ({ moderatorId: moderator, sessionId, tokenHash }) =>
    sessionId === null
      ? byToken({ moderator, presented: tokenHash })
      : bySession({ moderator, presented: sessionId });
}

const forShare = lockedBy('FOR SHARE OF m');
const forUpdate = lockedBy('FOR UPDATE OF m');
