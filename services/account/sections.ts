import { type FeedRow, feedAfter } from '../../projections/feed/record.ts';
import { receiptsAfter, type ShownReceipt } from '../eventstore/receipts.ts';
import { type ExportSection, exportSection } from '../export-section.ts';

/** What every request left: the answers as they were given. */
export const receiptsSection = exportSection<ShownReceipt>({
  name: 'receipts',
  after: receiptsAfter,
  entry: ({ key, recorded_at, operation, route, body_hash, http_status, reply, event_ids }) => ({
    operation_id: key,
    operation,
    route,
    recorded_at: recorded_at.toISOString(),
    ...(body_hash === null ? {} : { body_hash }),
    http_status,
    reply,
    event_ids,
  }),
});

/** The feed as the updates show it, as far as it went when the export began. */
export function feedSection(until: number): ExportSection {
  return exportSection<FeedRow>({
    name: 'feed',
    after: (memberId, last, limit) => feedAfter(memberId, last?.sequence ?? 0, until, limit),
    entry: ({ event_id, sequence, type, occurred_at, subject_type, subject_id, actor, data }) => ({
      id: event_id,
      sequence,
      type,
      occurred_at: occurred_at.toISOString(),
      subject: { type: subject_type, id: subject_id },
      actor,
      data,
    }),
  });
}
