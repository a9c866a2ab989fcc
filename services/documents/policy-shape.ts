import { z } from 'zod';
import { POLICY_VERSION } from '../../domain/publications/words.ts';

const Lines = z.array(z.string());

/** The body of /policy.json. The suffix of a name is the unit of its time. */
export const PublicPolicy = z
  .object({
    policy_version: z.literal(POLICY_VERSION),
    status: z.literal('ok'),
    consent: z.object({
      visibility: z.literal('public'),
      publish_consent: z.literal(true),
      policy_version: z.literal(POLICY_VERSION),
      meaning: z.string(),
    }),
    published: Lines,
    not_published: Lines,
    kept: Lines,
    erased: Lines,
    retention: z.object({
      rejected_or_removed_text_days: z.int(),
      withdrawn_text_days: z.int(),
      address_keys_hours: z.int(),
      account_deletion: z.string(),
    }),
    limits: z.record(z.string(), z.int()),
    moderation: z.object({
      rules: Lines,
      undo_window_seconds: z.int(),
      fast_lane: z.boolean(),
      appeal_days: z.int(),
      report_reasons: z.array(z.string()),
      policies: z
        .array(z.object({ code: z.string(), title: z.string(), text: z.string() }))
        .describe('What a rejection or a removal can name, as it stands now.'),
    }),
  })
  .meta({ id: 'PublicPolicy' });
export type PublicPolicy = z.input<typeof PublicPolicy>;
