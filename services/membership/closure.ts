import { end, member } from '../../domain/membership/member.ts';
import { readStream, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { dropVerifiers } from '../../platform/keys/verifiers.ts';
import { defineAccountClosure, defineDisablingEnding } from './account-closure.ts';
import { endSession } from './login.ts';
import { endSessions, liveSessions } from './sessions.ts';

const endingSessions = (reason: 'deactivated' | 'disabled') => ({
  load: liveSessions,
  close: (memberId: string, rows: readonly Live[]) =>
    rows.map(({ session_id }) => endSession(memberId, session_id, reason)),
  rows: (_memberId: string, rows: readonly Live[], now: Date) => [
    endSessions(
      rows.map(({ session_id }) => session_id),
      now,
    ),
  ],
});
type Live = { session_id: string };

export const sessionsClosure = defineAccountClosure(endingSessions('deactivated'));
export const sessionsDisabling = defineDisablingEnding(endingSessions('disabled'));

/** Deactivates the member. A deletion runs this closure after those of all features. */
export const memberClosure = defineAccountClosure({
  load: (memberId) => readStream(memberOwner(memberId), `member-${memberId}`),
  close(memberId, events, _now, { eraseNotes }) {
    return [
      {
        owner: memberOwner(memberId),
        stream: `member-${memberId}`,
        version: streamVersion(events),
        actor: { type: 'member', id: memberId },
        events: end(replay(member, events), { type: 'DeactivateMember', eraseNotes }),
      },
    ];
  },
  rows: (memberId) => [dropVerifiers(memberOwner(memberId))],
});
