import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { Alert } from '../shared/live-region.tsx';
import { Site } from '../site/frame.tsx';
import {
  DisabledDialog,
  type Disabling,
  disabledId,
  isDisabled,
  readDisabling,
} from './disabled-membership.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields, proofErrors, toKey } from './key-fields.tsx';
import { offersPasskeys, supportsPasskeys } from './passkey.ts';
import { type Failure, failureText, fieldError } from './problem-text.ts';
import type { Membership } from './session.ts';

interface SignInProps {
  membership: Membership;
  /** What a link fills in. */
  linked?: Proof | undefined;
  onClose: () => void;
  onRecover: () => void;
  /** The account of a disabled member was deleted. */
  onDeleted: () => void;
}

export function SignInDialog({ membership, linked, onClose, onRecover, onDeleted }: SignInProps) {
  const [disabled, setDisabled] = useState<{ proof: Proof; disabling: Disabling }>();
  const [proof, setProof] = useState<Proof>(linked ?? { id: '', key: '' });
  const errors = proofErrors(proof, { byHandle: true });
  const state = useForm({
    complete: !errors.id && !errors.key,
    async send() {
      const key = toKey(proof.key);
      const answer = await membership.signIn(proof.id, key);
      if (isDisabled(answer)) {
        const proven = { id: disabledId(answer) ?? proof.id.trim(), key };
        const read = await readDisabling(proven);
        if (read.kind !== 'ok') return read;
        setDisabled({ proof: proven, disabling: read.body });
        return undefined;
      }
      if (answer.kind !== 'ok') return answer;
      onClose();
      return undefined;
    },
  });
  const { tried, failure } = state;
  const { passkeys } = useContext(Site);
  const [unanswered, setUnanswered] = useState('');
  const [refused, setRefused] = useState<Failure>();

  const offered = useRef<AbortController>(undefined);
  // A challenge lives for five minutes; a form that is open for longer still has its button.
  useEffect(() => {
    if (!passkeys) return;
    const offer = new AbortController();
    offered.current = offer;
    const { signal } = offer;
    void (async () => {
      if (!(await offersPasskeys()) || signal.aborted) return;
      const answer = await membership.signInWithPasskey({ mediation: 'conditional', signal });
      if (signal.aborted) return;
      if (answer.kind === 'ok') onClose();
      // A limit on challenges says nothing to a person who may not want a passkey.
      else if (answer.kind === 'problem' && answer.code === 'credentials_not_accepted')
        setRefused(answer);
    })();
    return () => offer.abort();
  }, [passkeys]);

  async function usePasskey(): Promise<void> {
    // A browser has one request at a time.
    offered.current?.abort();
    setUnanswered('');
    setRefused(undefined);
    const answer = await membership.signInWithPasskey();
    if (answer.kind === 'ok') onClose();
    else if (answer.kind === 'unanswered') setUnanswered(answer.message);
    else setRefused(answer);
  }

  if (disabled) return <DisabledDialog {...disabled} onClose={onClose} onDeleted={onDeleted} />;
  return (
    <FormDialog
      title="Sign in"
      onClose={onClose}
      state={state}
      hint="Signed in for 30 minutes. We never store your key."
      buttons={
        <>
          <button type="submit" class="button primary">
            Sign in
          </button>
          {passkeys && supportsPasskeys() && (
            <button type="button" class="button" onClick={() => void usePasskey()}>
              Use a passkey
            </button>
          )}
          <button type="button" class="button quiet" onClick={onRecover}>
            Use the recovery key
          </button>
        </>
      }
    >
      <ProofFields
        proof={proof}
        onProof={(next) => {
          setProof(next);
          state.clearFailure();
        }}
        which="sign_in_key"
        byHandle
        errors={{
          id: (tried && errors.id) || fieldError(failure, 'id') || fieldError(failure, 'handle'),
          key: (tried && errors.key) || fieldError(failure, 'sign_in_key'),
        }}
      />
      {unanswered && <Alert>{unanswered}</Alert>}
      {refused && <Alert>{passkeyFailure(refused)}</Alert>}
    </FormDialog>
  );
}

/** The service refuses every passkey alike; most often it was removed from the account. */
const passkeyFailure = (failure: Failure): string =>
  failure.kind === 'problem' && failure.code === 'credentials_not_accepted'
    ? 'This passkey is not accepted. It may have been removed, or your keys replaced: sign in with your key.'
    : failureText(failure);
