import { useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { randomUuid } from '../shared/random.ts';
import {
  DisabledDialog,
  type Disabling,
  isDisabled,
  readDisabling,
} from './disabled-membership.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields, proofErrors, toKey } from './key-fields.tsx';
import { newKeys } from './key-file.ts';
import { Discarding, NewKeys, useUnsentKeys } from './new-keys.tsx';
import { type Failure, isUncertain } from './problem-text.ts';
import type { Membership } from './session.ts';
import { toast } from './toast.tsx';

interface RecoverProps {
  membership: Membership;
  onClose: () => void;
  /** The account of a disabled member was deleted. */
  onDeleted: () => void;
}

const REPLACED = 'Your keys are replaced. The old keys no longer work.';

/** Replaces both keys, using the recovery key. The member saves the new keys before sending. */
export function RecoverDialog({ membership, onClose, onDeleted }: RecoverProps) {
  const [disabling, setDisabling] = useState<Disabling>();
  const [proof, setProof] = useState<Proof>({ id: membership.session?.id ?? '', key: '' });
  const [step, setStep] = useState<'proof' | 'keys'>('proof');
  const [fresh] = useState(() => ({ keys: newKeys(), operation: randomUuid() }));
  const [saved, setSaved] = useState(false);
  const errors = proofErrors(proof);
  const id = proof.id.trim().toLowerCase();
  const { session } = membership;
  const handle = session?.id === id ? session.handle : proof.handle;
  const state = useForm({
    complete: step === 'proof' ? !errors.id && !errors.key : saved,
    send: () => (step === 'proof' ? showKeys() : replace()),
  });
  const { tried } = state;
  const { asking, canClose } = useUnsentKeys(step === 'keys' && !disabling);

  async function showKeys(): Promise<undefined> {
    setStep('keys');
    state.restart();
  }

  async function replace(): Promise<Failure | undefined> {
    const { sign_in_key, recovery_key } = fresh.keys;
    const recovered = await call<unknown>('POST', '/api/membership/recover', {
      body: {
        id,
        recovery_key: toKey(proof.key),
        new_sign_in_key: sign_in_key,
        new_recovery_key: recovery_key,
        operation_id: fresh.operation,
      },
    });
    const answer = recovered.kind === 'ok' ? await membership.signIn(id, sign_in_key) : recovered;
    if (isDisabled(answer)) {
      const read = await readDisabling({ id, key: sign_in_key });
      if (read.kind !== 'ok') return read;
      toast(REPLACED);
      setDisabling(read.body);
      return undefined;
    }
    if (answer.kind === 'ok') {
      toast(REPLACED);
      onClose();
      return undefined;
    }
    if (!isUncertain(answer) && recovered.kind !== 'ok') setStep('proof');
    return answer;
  }

  if (disabling)
    return (
      <DisabledDialog
        proof={{ id, key: fresh.keys.sign_in_key }}
        disabling={disabling}
        onClose={onClose}
        onDeleted={onDeleted}
      />
    );
  return (
    <FormDialog
      title={step === 'proof' ? 'Replace my keys' : 'Save your new keys'}
      onClose={onClose}
      state={state}
      canClose={canClose}
      buttons={
        <button type="submit" class={step === 'proof' ? 'button primary' : 'button'}>
          {step === 'proof' ? 'Create new keys' : 'Replace my keys'}
        </button>
      }
    >
      {step === 'proof' ? (
        <>
          <p>
            Use your recovery key to get two new keys. Your old keys, sessions and credentials stop
            working immediately.
          </p>
          <ProofFields
            proof={proof}
            onProof={setProof}
            which="recovery_key"
            errors={tried ? errors : {}}
          />
        </>
      ) : (
        <>
          <NewKeys
            keys={{ ...fresh.keys, id, ...(handle ? { handle } : {}) }}
            saved={saved}
            onSaved={setSaved}
            error={
              tried && !saved
                ? 'Save your keys first. The old keys are about to stop working.'
                : undefined
            }
          />
          {asking && <Discarding what="Your old keys still work." onDiscard={onClose} />}
        </>
      )}
    </FormDialog>
  );
}
