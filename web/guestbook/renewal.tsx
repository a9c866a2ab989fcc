import { useEffect, useState } from 'preact/hooks';
import { Alert, announce } from '../shared/live-region.tsx';
import { When } from '../shared/time.tsx';
import { type Failure, failureText } from './problem-text.ts';
import type { Membership, Session } from './session.ts';
import { toast } from './toast.tsx';

interface RenewalProps {
  membership: Membership;
  /** The form to sign in, for a page that does not have the key. */
  onSignIn: () => void;
}

/** A button that begins a new session before the present one ends; texts on the page stay. */
export function RenewButton({ membership, onSignIn }: RenewalProps) {
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);

  async function renew(): Promise<void> {
    if (busy) return;
    setBusy(true);
    const answer = await membership.renew();
    setBusy(false);
    setFailure(answer?.kind === 'ok' ? undefined : answer);
    if (!answer) onSignIn();
    else if (answer.kind === 'ok') toast('You stay signed in for 30 more minutes.');
  }

  return (
    <>
      {failure && <Alert>{failureText(failure)}</Alert>}
      <button
        type="button"
        class="button"
        aria-disabled={busy ? 'true' : undefined}
        onClick={() => void renew()}
      >
        Stay signed in
      </button>
    </>
  );
}

/** Says in the last five minutes of a session when it ends, and offers to go on. */
export function RenewalNotice({ session, ...props }: RenewalProps & { session: Session }) {
  useEffect(() => announce('Your session ends in a few minutes.'), []);
  const [hidden, setHidden] = useState(false);
  if (hidden) return null;
  return (
    <div class="box look row renewal">
      <p>
        You are signed in until <When at={new Date(session.expiresAt * 1000).toISOString()} />.
      </p>
      <RenewButton {...props} />
      <button type="button" class="button quiet" onClick={() => setHidden(true)}>
        Not now
      </button>
    </div>
  );
}
