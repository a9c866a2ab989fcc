import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';

const count = z.int().min(0);

export const ReadModelsMended = defineEvent('ReadModelsMended', {
  summary:
    'The operator replaced rows of read models that did not follow from the log up to `position` (`npm run verify -- --live --mend`). `keys` identifies each row by ids, numbers and codes, without words or hashes of words.',

  data: z.strictObject({
    position: count,
    tables: z
      .array(
        z.strictObject({
          table: z.string(),
          changed: count,
          missing: count,
          surplus: count,
          keys: z.array(z.record(z.string(), z.string())),
        }),
      )
      .min(1),
  }),
});
