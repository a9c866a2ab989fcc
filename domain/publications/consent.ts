import { z } from 'zod';

/** The version of the publishing policy that members accept. */
export const POLICY_VERSION = 'service-public-v1';

/** Fields of every publication's body: the author consents to publish it under this policy. */
export const consent = {
  visibility: z.literal('public'),
  publish_consent: z.literal(true),
  policy_version: z.literal(POLICY_VERSION),
};
