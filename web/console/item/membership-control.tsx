import { useEffect, useState } from 'preact/hooks';
import { askAbout } from '../decide/membership-dialog.tsx';
import { decisionState } from '../decide/own-decisions.ts';
import { connectionState } from '../session/connection.ts';
import { call } from '../session/moderation-api.ts';
import type { MemberItem } from '../words/api-model.ts';
import { DisablingText, untilText } from './membership.tsx';

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
