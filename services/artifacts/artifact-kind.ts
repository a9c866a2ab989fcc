/** The kinds of context packet. */
export const KINDS = ['handoff', 'brief', 'result'] as const;

export type Kind = (typeof KINDS)[number];
