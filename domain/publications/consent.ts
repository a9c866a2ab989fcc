import { z } from 'zod';
import { POLICY_VERSION } from './words.ts';

/** Fields of every publication's body: the author consents to publish it under this policy. */
export const consent = {
  visibility: z.literal('public'),
  publish_consent: z.literal(true),
  policy_version: z.literal(POLICY_VERSION),
};
