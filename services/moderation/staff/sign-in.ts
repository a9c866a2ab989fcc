import { moderatorOwner } from '../../../domain/owners.ts';
import type { Role } from '../../../domain/permissions.ts';
import {
  type Command,
  defineCommand,
  definePolicy,
  type Policy,
} from '../../../platform/eventstore/handle.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { unixSeconds } from '../../../platform/http/schemas.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import type { Token } from '../../../platform/keys/token.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  readVerifiers,
  renewVerifier,
  type VerifierRow,
} from '../../../projections/membership/verifiers.ts';
import { holdModerator, type ModeratorRow } from '../../../projections/moderation/moderators.ts';
import {
  dropDeadModeratorSessions,
  dropModeratorSession,
  findLiveModeratorSession,
  insertModeratorSession,
  releaseAllLeases,
  sessionExpiry,
} from './sessions.ts';

export interface SignedIn {
  status: 'signed_in';
  moderator: { id: string; name: string; role: Role };
  expires_at: number;
}

/** The moderator of a token. The row is locked, so that a revocation waits. */
export function byToken(
  keys: KeyRing,
  token: Token,
): Policy<'moderator_required', SignedIn, Caller> {
  const { id } = token;
  const owner = moderatorOwner(id);
  return definePolicy({
    actor: { type: 'moderator', id },
    load: { moderators: holdModerator(id), verifiers: readVerifiers(owner, 'moderator') },
    prove({ moderators: [moderator], verifiers: [verifier] }) {
      const proven = keys.verify('moderator', id, token.secret, verifier);
      return proven && moderator ? { moderator, verifier } : refuse('moderator_required');
    },
  });
}

interface Caller {
  moderator: ModeratorRow;
  verifier: VerifierRow | undefined;
}

/** Exchanges a moderator's token for a browser session; ends the session whose cookie was sent. */
export function signInCommand(
  keys: KeyRing,
  token: Token,
  session: Token,
  before: Token | undefined,
): Command<SignedIn, never, Caller> {
  const { id } = token;
  return defineCommand({
    load: { sessions: before ? findLiveModeratorSession(before.id) : null },
    decide({ sessions: [old] }, now, { moderator, verifier }: Caller) {
      const replaced =
        before && old && keys.verify('moderator-session', before.id, before.secret, old);
      const verifierOfSession = keys.mac('moderator-session', session.id, session.secret);
      return {
        appends: [
          ...(replaced ? [signedOut(old.moderator_id, old.session_id, 'replaced')] : []),
          {
            owner: moderatorOwner(id),
            stream: `moderator-session-${session.id}`,
            version: 0,
            events: [
              {
                type: 'ModeratorSignedIn',
                data: { moderator_id: id, session_id: session.id },
                personal: null,
              },
            ],
          },
        ],
        rows: [
          ...(replaced ? [dropModeratorSession(old.session_id)] : []),
          ...renewVerifier(keys, moderatorOwner(id), token.secret, verifier),
          dropDeadModeratorSessions(id),
          insertModeratorSession(session.id, id, verifierOfSession, now),
        ],
        reply: () => ({
          status: 'signed_in',
          moderator: { id, name: moderator.name ?? '', role: moderator.role },
          expires_at: unixSeconds(sessionExpiry(now)),
        }),
      };
    },
  });
}

/** Ends the session, if there is one, and releases all of the moderator's leases. */
export function signOutCommand({
  moderatorId,
  sessionId,
}: PrincipalOf<'moderator'>): Command<null> {
  return defineCommand({
    load: { live: sessionId === null ? null : findLiveModeratorSession(sessionId) },
    decide: ({ live: [live] }) => ({
      appends: live ? [signedOut(moderatorId, live.session_id, 'signed_out')] : [],
      rows: [
        ...(live ? [dropModeratorSession(live.session_id)] : []),
        releaseAllLeases(moderatorId),
      ],
      reply: () => null,
    }),
  });
}

/** Before the sign-out, a session's stream holds only the sign-in, hence version 1. */
function signedOut(moderatorId: string, sessionId: string, reason: 'signed_out' | 'replaced') {
  return {
    owner: moderatorOwner(moderatorId),
    stream: `moderator-session-${sessionId}`,
    version: 1,
    actor: { type: 'moderator' as const, id: moderatorId },
    events: [
      {
        type: 'ModeratorSignedOut' as const,
        data: { moderator_id: moderatorId, session_id: sessionId, reason },
        personal: null,
      },
    ],
  };
}
