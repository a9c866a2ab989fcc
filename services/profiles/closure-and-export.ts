import { z } from 'zod';
import { attribute } from '../../platform/eventstore/append.ts';
import { Timestamp } from '../../platform/http/schemas.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { type OwnProfileRow, ownProfile } from '../../projections/profiles/profiles.ts';
import { defineAccountClosure } from '../account-closure.ts';
import { exportSection, ToldDecision } from '../export-section.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { loadProfile } from './profile-stream.ts';

/**
 * Withdraws the profile when its member's account is closed, even if a moderator removed it, so
 * that it cannot be restored.
 */
export const profileClosure = defineAccountClosure({
  load: loadProfile,
  close(memberId, own) {
    const withdrawn = own.decide({ type: 'WithdrawProfile', reason: 'deactivated' });
    if (isRefusal(withdrawn)) return [];
    return attribute(withdrawn.appends, { type: 'member', id: memberId });
  },
  rows: (memberId) => [dropLeases('profile', [memberId])],
});

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
