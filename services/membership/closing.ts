import type { Closing, ClosingRows } from '../closing.ts';
import { readStream, streamVersion } from '../eventstore/append.ts';
import { replay } from '../eventstore/decider.ts';
import type { RecordedEvent } from '../eventstore/event.ts';
import { dropVerifiers } from '../verifiers.ts';
import { endSession } from './login.ts';
import { end, member } from './member.ts';
import { endSessions, openSessions } from './sessions.ts';

const sessionsIn = (rows: ClosingRows) =>
  (rows[0] as unknown as { session_id: string }[]).map(({ session_id }) => session_id);

export const sessionsClosing: Closing = {
  load: (memberId) => [openSessions(memberId)],
  close: (memberId, rows) =>
    sessionsIn(rows).map((sessionId) => endSession(memberId, sessionId, 'deactivated')),
  rows: (_memberId, rows, now) => [endSessions(sessionsIn(rows), now)],
};

/** The member: the last of all, so that nothing that it did stands after its end in the log. */
export const memberClosing: Closing = {
  load: (memberId) => [readStream(memberId, `member-${memberId}`)],
  close(memberId, rows, _now, { eraseNotes }) {
    const events = rows[0] as unknown as RecordedEvent[];
    return [
      {
        owner: memberId,
        stream: `member-${memberId}`,
        version: streamVersion(events),
        actor: { type: 'member', id: memberId },
        events: end(replay(member, events as never[]), { type: 'DeactivateMember', eraseNotes }),
      },
    ];
  },
  rows: (memberId) => [dropVerifiers(memberId)],
};
