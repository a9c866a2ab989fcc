/** What members publish without review, and moderators may take down. */
export const RECORD_TYPES = ['profile', 'artifact', 'case', 'case_note'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];
