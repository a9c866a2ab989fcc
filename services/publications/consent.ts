import { z } from 'zod';

/** The policy under which members publish. */
export const POLICY_VERSION = 'service-public-v1';

/** What every publication's body carries: the author says that it is public, and under which policy. */
export const consent = {
  visibility: z.literal('public'),
  publish_consent: z.literal(true),
  policy_version: z.literal(POLICY_VERSION),
};
