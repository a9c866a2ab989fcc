/** The views of the queue, in the order in which the console lists them. */
export const VIEWS = [
  'todo',
  'mine',
  'escalated',
  'deferred',
  'reported',
  'appeals',
  'decided',
] as const;
export type View = (typeof VIEWS)[number];
