import { z } from 'zod';
import { AnyUuid, Json, Sha256, Timestamp, Uuid } from '../../platform/http/schemas.ts';
import { type FeedRow, feedAfter } from '../../projections/updates/feed-page.ts';
import { type ExportSection, exportSection } from '../export-section.ts';
import { UpdateEvent } from '../updates/update-event.ts';
import { type ExportedReceipt, receiptsAfter } from './receipts.ts';

/** The receipts of all commands, with the responses as they were sent. */
const receiptsSection = exportSection<ExportedReceipt>({
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
  schema: z
    .object({
      operation_id: Uuid,
      operation: z.string(),
      route: z.string(),
      recorded_at: Timestamp,
      body_hash: Sha256.optional().describe(
        'Absent of requests that may hold a short text, which could be guessed from it',
      ),
      http_status: z.int(),
      reply: Json,
      event_ids: z.array(AnyUuid),
    })
    .meta({ id: 'ExportedReceipt' }),
});

/** The member's feed in the shape of `updates.list`, up to its head when the export began. */
function feedSection(until: number): ExportSection {
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
    schema: UpdateEvent,
  });
}

/** The sections after the head of the export: those of the capabilities, then receipts and feed. */
export const toSections = (
  features: readonly ExportSection[],
  feedSequence: number,
): ExportSection[] => [...features, receiptsSection, feedSection(feedSequence)];
