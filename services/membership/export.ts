import { z } from 'zod';
import { AnyUuid, Timestamp, UnixSeconds, unixSeconds } from '../../platform/http/schemas.ts';
import { exportSection } from './export-section.ts';
import { type SessionTimes, sessionsAfter } from './sessions.ts';

export const sessionsSection = exportSection<SessionTimes>({
  name: 'sessions',
  after: (memberId, last, limit) => sessionsAfter(memberId, last?.session_id, limit),
  entry: ({ session_id, started_at, expires_at, ended_at }) => ({
    id: session_id,
    started_at: started_at.toISOString(),
    expires_at: unixSeconds(expires_at),
    ended_at: ended_at?.toISOString() ?? null,
  }),
  schema: z
    .object({
      id: AnyUuid,
      started_at: Timestamp,
      expires_at: UnixSeconds,
      ended_at: Timestamp.nullable(),
    })
    .meta({ id: 'ExportedSession' }),
});
