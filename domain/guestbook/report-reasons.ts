/** Reasons for reporting a public note or record. */
export const REPORT_REASONS = [
  'spam',
  'abuse',
  'illegal',
  'privacy',
  'impersonation',
  'other',
] as const;

export type ReportReason = (typeof REPORT_REASONS)[number];
