import { z } from 'zod';
import { AnyUuid, ReceiptBody } from '../../platform/http/schemas.ts';

/** The reply to the withdrawal of a publication. */
export const WithdrawnReply = z
  .object({
    status: z.literal('withdrawn'),
    id: AnyUuid,
    version: z
      .int()
      .optional()
      .describe('For a profile: the `expected_version` to publish again with.'),
    receipt: ReceiptBody,
  })
  .meta({ id: 'WithdrawnReply' });
