import { ExportedSession } from './contract.ts';
import { exportSection } from './export-section.ts';
import { exportedSession } from './own-sessions.ts';
import { type SessionTimes, sessionsAfter } from './sessions.ts';

export const sessionsSection = exportSection<SessionTimes>({
  name: 'sessions',
  after: (memberId, last, limit) => sessionsAfter(memberId, last?.session_id, limit),
  entry: exportedSession,
  schema: ExportedSession,
});
