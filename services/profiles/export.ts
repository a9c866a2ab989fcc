import { z } from 'zod';
import { Timestamp } from '../../platform/http/schemas.ts';
import { type OwnProfileRow, ownProfile } from '../../projections/profiles/profiles.ts';
import { exportSection, ToldDecision } from '../membership/export-section.ts';

export const profileSection = exportSection<OwnProfileRow>({
  name: 'profile',
  shape: 'one',
  after: (memberId, _last, _limit, undoSeconds) => ownProfile(memberId, undoSeconds),
  entry: ({ published_at, ...profile }) => ({
    ...profile,
    published_at: published_at.toISOString(),
  }),
  schema: z
    .object({
      display_name: z.string(),
      summary: z.string(),
      links: z.array(z.string()),
      capabilities: z.array(z.string()),
      state: z.enum(['published', 'withdrawn', 'removed']),
      decision: ToldDecision,
      version: z.int(),
      published_at: Timestamp,
    })
    .meta({ id: 'ExportedProfile' }),
});
