import type { Answer } from '../shared/api.ts';

export type Failure = Exclude<Answer<never>, { kind: 'done' }>;

const WORDS: Record<string, string> = {
  rate_limited:
    'Too many requests from your network. Try again in ten minutes; some limits last until tomorrow.',
  admission_closed: 'The service accepts nothing new at the moment. Your text stays here.',
  capacity_reached: 'The service has as many members as it can take.',
  credentials_not_accepted: 'This id and key do not belong together. Check both.',
  credential_not_accepted: 'This key is not accepted for your account.',
  deletion_unconfirmed:
    'Your account no longer accepts this sign-in key. Most likely it is deleted, but that could not be confirmed. Only if its keys were replaced meanwhile does it live on: to be sure, sign in with the new key, and delete it again.',
  session_required:
    'Your session has ended. Sign in again to go on as a member; your text stays here.',
  reply_target_unavailable: 'The note you reply to is no longer there.',
  not_found: 'This note is no longer there.',
  storage_unavailable: 'The service cannot store anything just now. Nothing is lost; try again.',
  outcome_unconfirmed: 'We do not know whether this arrived. You can safely try again.',
};

/** Describes a failure and what to do next. */
export function words(failure: Failure): string {
  if (failure.kind === 'unreachable')
    return 'The service cannot be reached. Nothing is lost; try again.';
  return WORDS[failure.code] ?? failure.message;
}

/** Whether the outcome is unknown, so that the identical request can be sent again. */
export const uncertain = (failure: Failure): boolean =>
  failure.kind === 'unreachable' ||
  failure.code === 'storage_unavailable' ||
  failure.code === 'outcome_unconfirmed' ||
  failure.code === 'internal_error';

/** Whether signing in resolves the failure. */
export const signInNeeded = (failure: Failure): boolean =>
  failure.kind === 'problem' && failure.code === 'session_required';

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The service's validation message for a field, as a sentence. */
export function issueOf(failure: Failure | undefined, path: string): string | undefined {
  const issue = failure?.kind === 'problem' ? failure.issues[path] : undefined;
  return issue && sentence(issue);
}
