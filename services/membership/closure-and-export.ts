import { end } from '../../domain/membership/member.ts';
import { memberOwner } from '../../domain/owners.ts';
import { attribute } from '../../platform/eventstore/append.ts';
import { dropVerifiers } from '../../projections/membership/verifiers.ts';
import { defineAccessEnding, defineAccountClosure } from '../account-closure.ts';
import { exportSection } from '../export-section.ts';
import { ExportedSession } from './contract.ts';
import { endSession } from './login.ts';
import { exportedSession } from './own-sessions.ts';
import { memberStreams } from './register.ts';
import { endSessions, liveSessions, type SessionTimes, sessionsAfter } from './sessions.ts';

const endingSessions = (reason: 'deactivated' | 'disabled' | 'recovery') => ({
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
export const sessionsDisabling = defineAccessEnding(endingSessions('disabled'));
export const sessionsRecovery = defineAccessEnding(endingSessions('recovery'));

/** Deactivates the member. A deletion runs this closure after those of all features. */
export const memberClosure = defineAccountClosure({
  load: (memberId) => memberStreams.load(memberOwner(memberId), memberId),
  close(memberId, stream, _now, { eraseNotes }) {
    const ended = end(stream.state, { type: 'DeactivateMember', eraseNotes });
    const { appends } = stream.append(ended);
    return attribute(appends, { type: 'member', id: memberId });
  },
  rows: (memberId) => [dropVerifiers(memberOwner(memberId))],
});

export const sessionsSection = exportSection<SessionTimes>({
  name: 'sessions',
  after: (memberId, last, limit) => sessionsAfter(memberId, last?.session_id, limit),
  entry: exportedSession,
  schema: ExportedSession,
});
