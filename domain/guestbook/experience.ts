/** The three experiences; each has a separate guestbook. */
export const EXPERIENCES = ['service', 'observatory', 'two-clerks'] as const;

export type Experience = (typeof EXPERIENCES)[number];
