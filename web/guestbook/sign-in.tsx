import { useState } from 'preact/hooks';
import {
  DisabledDialog,
  type Disabling,
  isDisabled,
  readDisabling,
} from './disabled-membership.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields } from './key-fields.tsx';
import { fieldError } from './problem-text.ts';
import type { Membership } from './session.ts';

interface SignInProps {
  membership: Membership;
  onClose: () => void;
  onRecover: () => void;
  /** The account of a disabled member was deleted. */
  onDeleted: () => void;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

const CHOOSE = 'Choose your key file, or paste the member id.';

/** Validates the format of an id and a key before they are sent. */
export function proofErrors({ id, key }: Proof): { id?: string; key?: string } {
  return {
    ...(UUID.test(id.trim())
      ? {}
      : {
          id:
            id.trim() === ''
              ? CHOOSE
              : 'A member id looks like 7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f.',
        }),
    ...(/^[0-9a-f]{64}$/.test(key.trim()) ? {} : { key: 'A key has 64 characters: 0–9 and a–f.' }),
  };
}

export function SignInDialog({ membership, onClose, onRecover, onDeleted }: SignInProps) {
  const [disabling, setDisabling] = useState<Disabling>();
  const [proof, setProof] = useState<Proof>({ id: '', key: '' });
  const errors = proofErrors(proof);
  const proven = { id: proof.id.trim(), key: proof.key.trim() };
  const state = useForm({
    complete: !errors.id && !errors.key,
    async send() {
      const answer = await membership.signIn(proven.id, proven.key);
      if (isDisabled(answer)) {
        const read = await readDisabling(proven);
        if (read.kind !== 'ok') return read;
        setDisabling(read.body);
        return undefined;
      }
      if (answer.kind !== 'ok') return answer;
      onClose();
      return undefined;
    },
  });
  const { tried, failure } = state;

  if (disabling)
    return (
      <DisabledDialog
        proof={proven}
        disabling={disabling}
        onClose={onClose}
        onDeleted={onDeleted}
      />
    );
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
        errors={{
          id: (tried && errors.id) || fieldError(failure, 'id'),
          key: (tried && errors.key) || fieldError(failure, 'sign_in_key'),
        }}
      />
    </FormDialog>
  );
}
