/** What a reviewer may say of a submission. */
export const REVIEW_DECISIONS = ['accept', 'request_changes', 'reject'] as const;

export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];
