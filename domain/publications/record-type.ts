/** Records that members publish without review and moderators can remove. */
export const RECORD_TYPES = ['profile', 'artifact', 'case', 'case_note'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];
