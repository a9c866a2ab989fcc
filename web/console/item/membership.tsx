import { useEffect, useState } from 'preact/hooks';
import { askAbout } from '../decide/membership-dialog.tsx';
import { findPolicy } from '../decide/policy-list.tsx';
import { decisionState } from '../decide/undo.ts';
import { connectionState } from '../session/connection.ts';
import { call } from '../session/moderation-api.ts';
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

/** Shows a lead whether the author's membership is disabled, and disables or enables it. */
export function MembershipControl({ memberId }: { memberId: string }) {
  const { me } = connectionState();
  const { ownDecisions } = decisionState();
  const [item, setItem] = useState<MemberItem | null>(null);
  const isLead = me?.role === 'lead';
  useEffect(() => {
    let outdated = false;
    if (!isLead) return;
    call<{ item: MemberItem }>('GET', `subjects/member/${memberId}`).then(
      (body) => {
        if (!outdated) setItem(body.item);
      },
      // A former member has no membership.
      () => {
        if (!outdated) setItem(null);
      },
    );
    return () => {
      outdated = true;
    };
    // Read again after each own decision.
  }, [memberId, isLead, ownDecisions]);
  if (!isLead || item?.id !== memberId) return null;
  const { state, disabling } = item;
  return (
    <section class="membership" aria-label="Membership">
      <p>
        Membership: <span class={`tag ${state}`}>{state}</span>{' '}
        {state === 'disabled' && disabling && untilText(disabling.until)}
      </p>
      {state === 'disabled' && <DisablingText disabling={disabling} />}
      <button
        type="button"
        class={state === 'enabled' ? 'button danger' : 'button'}
        onClick={() => askAbout(item)}
      >
        {state === 'enabled' ? 'Disable membership…' : 'Enable membership…'}
      </button>
    </section>
  );
}
