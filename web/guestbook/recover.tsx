import { useRef, useState } from 'preact/hooks';
import { announce } from '../shared/announce.tsx';
import { type Answer, call } from '../shared/api.ts';
import { Dialog } from '../shared/dialog.tsx';
import { focusFirstError } from '../shared/field.tsx';
import { randomUuid } from '../shared/random.ts';
import { NewKeys, type Proof, ProofFields } from './key-fields.tsx';
import { newKeys } from './key-file.ts';
import { uncertain, words } from './problem-text.ts';
import type { Membership } from './session.ts';
import { proofErrors } from './sign-in.tsx';

/** New keys for old, by the recovery key. The new ones are kept before they are sent. */
export function RecoverDialog(parts: { membership: Membership; onClose: () => void }) {
  const { membership, onClose } = parts;
  const [proof, setProof] = useState<Proof>({ id: membership.session?.id ?? '', key: '' });
  const [step, setStep] = useState<'proof' | 'keys'>('proof');
  const [fresh] = useState(() => ({ keys: newKeys(), operation: randomUuid() }));
  const [kept, setKept] = useState(false);
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Exclude<Answer<never>, { kind: 'done' }>>();
  const form = useRef<HTMLFormElement>(null);
  const errors = proofErrors(proof);
  const id = proof.id.trim().toLowerCase();

  async function go(): Promise<void> {
    setTried(true);
    if (step === 'proof' ? errors.id || errors.key : !kept) {
      focusFirstError(form.current);
      return;
    }
    if (step === 'proof') {
      setTried(false);
      setFailure(undefined);
      setStep('keys');
      return;
    }
    const { sign_in_key, recovery_key } = fresh.keys;
    const recovered = await call('POST', '/api/membership/recover', {
      body: {
        id,
        recovery_key: proof.key.trim(),
        new_sign_in_key: sign_in_key,
        new_recovery_key: recovery_key,
        operation_id: fresh.operation,
      },
    });
    const answer = recovered.kind === 'done' ? await membership.signIn(id, sign_in_key) : recovered;
    if (answer.kind === 'done') {
      announce('Your keys are replaced. The old ones no longer work.');
      onClose();
      return;
    }
    setFailure(answer);
    if (!uncertain(answer) && recovered.kind !== 'done') setStep('proof');
  }

  return (
    <Dialog title={step === 'proof' ? 'Replace both keys' : 'Keep your new keys'} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        {step === 'proof' ? (
          <>
            <p>
              With the recovery key you get two new keys. The old ones, every session and every
              credential end at once.
            </p>
            <ProofFields
              proof={proof}
              onProof={setProof}
              which="recovery_key"
              errors={tried ? errors : {}}
            />
          </>
        ) : (
          <NewKeys
            keys={{ ...fresh.keys, id }}
            kept={kept}
            onKept={setKept}
            error={tried && !kept ? 'Keep them first: the old keys are about to end.' : undefined}
          />
        )}
        {failure && (
          <p class="box bad" role="alert">
            {words(failure)}
          </p>
        )}
        <div class="row">
          <button type="submit" class={step === 'proof' ? 'button primary' : 'button'}>
            {step === 'proof' ? 'Make new keys' : 'Replace my keys'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
