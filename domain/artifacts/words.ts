/** The kinds of context packet. */
export const ARTIFACT_KINDS = ['handoff', 'brief', 'result'] as const;

export type Kind = (typeof ARTIFACT_KINDS)[number];
