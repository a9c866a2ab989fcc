/** Records that members publish without review and moderators can remove. */
export const RECORD_TYPES = ['profile', 'artifact', 'case', 'case_note'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** The version of the publishing policy that members accept. Pages send it too, so this file imports nothing. */
export const POLICY_VERSION = 'service-public-v1';

/** A longer list is not counted on every read: a figure of this size means this many or more. */
export const MAX_COUNTED = 1000;
