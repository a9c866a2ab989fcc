/** What a moderator can decide, and how a conflict says that somebody else has done so first. */
const WORDS = {
  approve: 'approved',
  reject: 'rejected',
  escalate: 'escalated',
  defer: 'deferred',
  remove: 'removed',
  restore: 'restored',
  keep: 'kept',
  grant: 'granted',
  uphold: 'upheld',
  undo: 'undone',
  disable: 'disabled',
  enable: 'enabled',
} as const;

export type DecidedAction = keyof typeof WORDS;
export const DECIDED_ACTIONS = Object.keys(WORDS) as [DecidedAction, ...DecidedAction[]];

const ACTIONS: Readonly<Record<string, DecidedAction>> = {
  NoteApproved: 'approve',
  NoteRejected: 'reject',
  NoteEscalated: 'escalate',
  NoteDeferred: 'defer',
  ReportsDismissed: 'keep',
  RecordReportsDismissed: 'keep',
  AppealGranted: 'grant',
  AppealUpheld: 'uphold',
  DecisionUndone: 'undo',
  MemberDisabled: 'disable',
  MemberEnabled: 'enable',
  MemberAppealGranted: 'grant',
  MemberAppealUpheld: 'uphold',
  MemberDecisionUndone: 'undo',
};

/** The action that an event records; undefined if the event is not a moderator's decision. */
export const decidedAction = (type: string): DecidedAction | undefined =>
  /Removed$/.test(type) ? 'remove' : /Restored$/.test(type) ? 'restore' : ACTIONS[type];

/** The same in the past tense. */
export function decidedWord(type: string): string | undefined {
  const action = decidedAction(type);
  return action && WORDS[action];
}
