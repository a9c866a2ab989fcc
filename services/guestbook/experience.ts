/** The three experiences, each with a guestbook of its own. */
export const EXPERIENCES = ['service', 'observatory', 'two-clerks'] as const;

export type Experience = (typeof EXPERIENCES)[number];
