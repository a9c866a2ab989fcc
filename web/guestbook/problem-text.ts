import type { Answer } from '../shared/api.ts';

export type Failure = Exclude<Answer<never>, { kind: 'ok' }>;

const TEXTS: Record<string, string> = {
  rate_limited:
    'Too many requests from your network. Try again in ten minutes; some limits last until tomorrow.',
  admission_closed:
    'The service accepts no new notes or members at the moment. Try again later; drafts are kept on this device.',
  capacity_reached: 'The service has reached its maximum number of members.',
  credentials_not_accepted:
    'This name and key do not belong together, or the key was replaced. Check both.',
  credential_not_accepted: 'This key is not accepted for your account.',
  deletion_unconfirmed:
    'Your account no longer accepts this sign-in key. It is most likely deleted, but this could not be confirmed. If its keys were replaced meanwhile, it still exists: sign in with the new key and delete it again.',
  session_required:
    'Your session has ended. Sign in again to continue as a member; your text is kept.',
  reply_target_unavailable: 'The note you are replying to is no longer public.',
  not_found: 'This note no longer exists or is no longer public.',
  storage_unavailable:
    'The service cannot save anything at the moment. Nothing is lost; try again.',
  outcome_unconfirmed: 'We do not know whether this arrived. You can safely try again.',
};

/** Describes a failure and what to do next. */
export function failureText(failure: Failure): string {
  if (failure.kind === 'unreachable')
    return 'The service cannot be reached. Nothing is lost; try again.';
  return TEXTS[failure.code] ?? failure.message;
}

/** Whether the outcome is unknown, so that the identical request can be sent again. */
export const isUncertain = (failure: Failure): boolean =>
  failure.kind === 'unreachable' ||
  failure.code === 'storage_unavailable' ||
  failure.code === 'outcome_unconfirmed' ||
  failure.code === 'internal_error';

/** Whether signing in resolves the failure. */
export const needsSignIn = (failure: Failure): boolean =>
  failure.kind === 'problem' && failure.code === 'session_required';

const toSentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The service's validation message for a field, as a sentence. */
export function fieldError(failure: Failure | undefined, path: string): string | undefined {
  const issue = failure?.kind === 'problem' ? failure.issues[path] : undefined;
  return issue && toSentence(issue);
}
