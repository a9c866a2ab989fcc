import { formatTime } from './format.ts';

/** Why an API call failed. */
export class Failure extends Error {
  /** HTTP status, or 0 if there was no readable response. */
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;

  constructor(
    status: number,
    code: string,
    message: string,
    details: Record<string, unknown> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  get reason(): string {
    return typeof this.details.reason === 'string' ? this.details.reason : this.code;
  }
}

/** Returns the error if it is a `Failure`, and rethrows any other error. */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof Failure) return error;
  throw error;
};

interface Named {
  id?: string;
  name?: string;
}

/** "Anna claimed it at 21:31." */
export const claimedText = (by: Named | undefined, since: string | undefined): string =>
  `${by?.name || 'Another moderator'} claimed it at ${formatTime(since ?? 0)}.`;

/** Verb phrases that follow the moderator's name. */
const VERB_PHRASES: Record<string, string> = {
  approved: 'approved it',
  rejected: 'rejected it',
  removed: 'removed it',
  restored: 'restored it',
  kept: 'kept it',
  granted: 'granted the appeal',
  upheld: 'upheld the decision',
  escalated: 'escalated it',
  deferred: 'deferred it',
  undone: 'undid the decision',
};

/** "Anna approved it at 21:34." */
export const decidedText = (by: string, decision: string, at: string): string =>
  `${by} ${VERB_PHRASES[decision] ?? 'changed it'} at ${formatTime(at)}.`;

/** Says what prevented a decision, with the other moderator's name and the time. */
export function failureText(failure: Failure): string {
  const { claimed_by, claimed_at, decided_by, decided_at, decision, current_state } =
    failure.details as {
      claimed_by?: Named;
      claimed_at?: string;
      decided_by?: Named;
      decided_at?: string;
      decision?: string;
      current_state?: string;
    };
  switch (failure.reason) {
    case 'claimed_by_other':
      return claimedText(claimed_by, claimed_at);
    case 'version_mismatch':
    case 'wrong_state':
      if (current_state === 'withdrawn') return 'Its author withdrew it.';
      if (decided_by && decided_at)
        return decidedText(decided_by.name || 'Another moderator', decision ?? '', decided_at);
      return current_state ? `It is ${current_state} now.` : 'It has changed meanwhile.';
    case 'parent_not_public':
      return 'The note it replies to is not public, so this reply cannot be approved.';
    case 'second_person_required':
      return 'You made this decision, so another moderator must review or undo it.';
    case 'undo_expired':
      return 'The undo window has ended. Another moderator who is a lead can still undo it.';
    case 'view_limit':
      return 'You have saved as many views as possible. Delete one first.';
    case 'claim_limit':
      return 'You have reached the limit of 10 claims. Decide on an item or release one first.';
    case 'claim_time_used':
      return 'You have claimed this for 30 minutes. You can claim it again in an hour.';
    case 'role_required':
      return 'Your role does not allow this.';
    case 'network':
      return 'No answer from the service. You can safely try again.';
    default:
      return issuesText(failure) ?? failure.message;
  }
}

/** Says that a request was refused ("Not undone"), or that its outcome is unknown, and why. */
export function refusalText(refused: string, request: string, failure: Failure): string {
  const unknown = failure.status === 0 || failure.code === 'outcome_unconfirmed';
  const outcome = unknown ? `The ${request} may not have been saved` : refused;
  return `${outcome}. ${failureText(failure)}`;
}

function issuesText({ details }: Failure): string | undefined {
  const issues = details.issues as { path: string; message: string }[] | undefined;
  return issues?.map(({ path, message }) => `${path} ${message}`).join('; ');
}
