import * as disabling from '../../domain/disabling/events.ts';
import { defineFeedEntries, type FeedEntry } from '../feed-entry.ts';

/** Hides which lead acted, and whether it was the operator. */
const MODERATOR = { type: 'moderator' as const };

const entry = (
  member: string,
  type: 'member.disabled' | 'member.enabled',
  data: FeedEntry['data'],
): FeedEntry => ({ member, type, subject: { type: 'member', id: member }, data, actor: MODERATOR });

/** A member reads of it in an export, or once the membership is enabled again. */
export const disablingFeed = defineFeedEntries(disabling, {
  MemberDisabled: ({ owner_id, data }) => entry(owner_id, 'member.disabled', { until: data.until }),
  MemberEnabled: ({ owner_id }) => entry(owner_id, 'member.enabled', {}),
  MemberAppealGranted: ({ owner_id }) => entry(owner_id, 'member.enabled', {}),
  MemberDecisionUndone({ owner_id, data }) {
    if (data.decision === 'upheld') return [];
    return data.decision === 'disabled'
      ? entry(owner_id, 'member.enabled', {})
      : entry(owner_id, 'member.disabled', { until: data.until });
  },
});
