import { findPolicy } from '../decide/policy-list.ts';
import type { MemberItem } from '../words/api-model.ts';
import { formatTime, fullTime } from '../words/format.ts';
import { MarkedText } from '../words/marked-text.tsx';

/** A membership under review: until when it is disabled; the decision below says why. */
export function Membership({ item: { disabling, state } }: { item: MemberItem }) {
  if (!disabling) return <p class="text">The membership is enabled.</p>;
  return (
    <p class="text">
      {state === 'disabled' ? 'Disabled since' : 'Was disabled on'}{' '}
      <time dateTime={disabling.since} title={fullTime(disabling.since)}>
        {formatTime(disabling.since)}
      </time>
      , {untilText(disabling.until)}.
    </p>
  );
}

/** Why the membership is disabled, where the latest decision is another one. */
export function DisablingText({ disabling }: Pick<MemberItem, 'disabling'>) {
  if (!disabling) return null;
  return (
    <p class="decision">
      Disabled: {findPolicy(disabling.policy)?.title ?? disabling.policy} by{' '}
      <bdi>{disabling.moderator?.name ?? 'the operator'}</bdi>, {formatTime(disabling.since)}.
      {disabling.message && <MarkedText text={disabling.message} class="quoted" />}
    </p>
  );
}

export const untilText = (until: string | null): string =>
  until === null ? 'until a lead lifts it' : `until ${formatTime(until)}`;
