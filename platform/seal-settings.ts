import { z } from 'zod';
import { parseSealKeys, SEAL_KEY_FORM } from './keys/seal-key.ts';
import { LOG_WITNESSES_FORM, parseLogWitnesses } from './log-witnesses.ts';

/** The settings of the sealed log. */
export const sealSettings = {
  SEAL_KEY: z
    .string()
    .refine((text) => parseSealKeys(text) !== undefined, SEAL_KEY_FORM)
    .meta({ form: '64 hex digits, several separated by commas' })
    .optional()
    .describe(
      'Ed25519 keys that sign the checkpoints of the sealed log, for workers alone. Every key signs. Without it nothing is sealed, except with the embedded PostgreSQL, where one is generated in `DATA_DIR`.',
    ),
  LOG_WITNESSES: z
    .string()
    .refine((text) => parseLogWitnesses(text) !== undefined, LOG_WITNESSES_FORM)
    .meta({ form: '`name+id+key https://…`, several separated by commas' })
    .optional()
    .describe(
      'Witnesses that workers ask to co-sign each checkpoint of the sealed log ([Witnesses](../verification/sealed-log.md#witnesses)). None by default.',
    ),
};
