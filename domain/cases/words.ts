/** The decisions that a reviewer can make on a submission. */
export const REVIEW_DECISIONS = ['accept', 'request_changes', 'reject'] as const;

export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];
