import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { defineRead } from '../../../platform/postgres/batch-statements.ts';
import { locking, named, type Sql } from '../../../platform/sql.ts';
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

/** The caller, if still active and authenticated; locked as such until the transaction ends. */
export const shareLockModerator = (me: Moderator): Sql<ModeratorRow> =>
  locking(share(me), { shared: [`moderator-${me.moderatorId}`] });

/** Like `shareLockModerator`, and makes other commands of this moderator wait that have the same lock. */
export const lockModerator = (me: Moderator): Sql<ModeratorRow> => locking(exclusively(me));

/** Like `lockModerator`, of a command that may share a transaction with those of other moderators. */
export const lockModeratorAmongOthers = (me: Moderator): Sql<ModeratorRow> =>
  locking(exclusively(me), { exclusive: [`moderator-${me.moderatorId}`] });

const proven = ({ join, lock }: Proof, moderator: string, presented: string, locked: string) =>
  `SELECT m.* FROM moderators m JOIN ${join(presented)}
    WHERE m.moderator_id = ${moderator} AND m.state = 'active' ${locked} ${lock}`;

const share = ({ moderatorId, sessionId, tokenHash }: Moderator): Sql<ModeratorRow> =>
  named(
    sessionId === null
      ? proven(TOKEN, '$1::uuid', '$2::text', 'FOR SHARE OF m')
      : proven(SESSION, '$1::uuid', '$2::uuid', 'FOR SHARE OF m'),
    [moderatorId, sessionId ?? tokenHash],
  );

const TOKEN_KEY = { moderator: 'uuid', presented: 'text' };
const SESSION_KEY = { moderator: 'uuid', presented: 'uuid' };

const lockByToken = defineRead<ModeratorRow, typeof TOKEN_KEY>(
  TOKEN_KEY,
  ({ moderator, presented }) => proven(TOKEN, moderator, presented, 'FOR UPDATE OF m'),
);
const lockBySession = defineRead<ModeratorRow, typeof SESSION_KEY>(
  SESSION_KEY,
  ({ moderator, presented }) => proven(SESSION, moderator, presented, 'FOR UPDATE OF m'),
);

const exclusively = ({ moderatorId: moderator, sessionId, tokenHash }: Moderator) =>
  sessionId === null
    ? lockByToken({ moderator, presented: tokenHash })
    : lockBySession({ moderator, presented: sessionId });
