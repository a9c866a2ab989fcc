import { useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { Field, focusFirstError } from '../shared/field.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { HANDLE } from './key-fields.tsx';
import { newKeys } from './key-file.ts';
import { Discarding, NewKeys, useUnsentKeys } from './new-keys.tsx';
import { type Failure, fieldError, isUncertain } from './problem-text.ts';
import type { Membership } from './session.ts';

const HANDLE_RULE = '3 to 24 characters: a–z, 0–9 and _, starting with a letter';
const HANDLE_TAKEN = 'This handle is taken. Choose another.';

interface JoinProps {
  membership: Membership;
  onClose: () => void;
}

/** Registers a member: handle, keys, account, in this order, so that the keys are saved first. */
export function JoinDialog({ membership, onClose }: JoinProps) {
  const [handle, setHandle] = useState('');
  const [keys, setKeys] = useState(newKeys);
  const [step, setStep] = useState<'handle' | 'keys'>('handle');
  const [saved, setSaved] = useState(false);
  const isValid = HANDLE.test(handle);
  const state = useForm({
    complete: step === 'handle' ? isValid : saved,
    send: () => (step === 'handle' ? showKeys() : register()),
  });
  const { form, tried, busy, failure } = state;
  const { asking, canClose } = useUnsentKeys(step === 'keys');
  const taken = failure?.kind === 'problem' && failure.code === 'registration_conflict';
  const refusal = taken ? HANDLE_TAKEN : fieldError(failure, 'handle');

  async function showKeys(): Promise<undefined> {
    setStep('keys');
    state.restart();
  }

  async function register(): Promise<Failure | undefined> {
    const { id, sign_in_key, recovery_key } = keys;
    const body = { id, handle, sign_in_key, recovery_key };
    const registered = await call<unknown>('POST', '/api/membership/register', { body });
    const answer = registered.kind === 'ok' ? await membership.signIn(id, sign_in_key) : registered;
    if (answer.kind === 'ok') {
      onClose();
      return undefined;
    }
    if (answer.kind === 'problem' && !isUncertain(answer) && registered.kind !== 'ok') {
      setStep('handle');
      setSaved(false);
      // These keys are not registered, so generate new ones for the next attempt.
      setKeys(newKeys());
      focusFirstError(form.current);
    }
    return answer;
  }

  return (
    <FormDialog
      title={step === 'handle' ? 'Join' : 'Save your keys'}
      onClose={onClose}
      state={state}
      canClose={canClose}
      hideFailure={refusal !== undefined}
      buttons={
        <button type="submit" class={step === 'handle' ? 'button primary' : 'button handle'}>
          {step === 'handle' ? 'Create keys' : busy ? 'Joining…' : `Join as ${handle}`}
        </button>
      }
    >
      {step === 'handle' ? (
        <HandleStep
          handle={handle}
          onHandle={(text) => {
            setHandle(text);
            state.clearFailure();
          }}
          error={refusal ?? (tried && !isValid ? `Use ${HANDLE_RULE}.` : undefined)}
        />
      ) : (
        <>
          <NewKeys
            keys={{ ...keys, handle }}
            saved={saved}
            onSaved={setSaved}
            error={
              tried && !saved ? 'Save your keys first. There is no other way back in.' : undefined
            }
          />
          {asking && <Discarding what="You have not joined yet." onDiscard={onClose} />}
        </>
      )}
    </FormDialog>
  );
}

interface HandleProps {
  handle: string;
  onHandle: (handle: string) => void;
  error: string | undefined;
}

function HandleStep({ handle, onHandle, error }: HandleProps) {
  return (
    <>
      <p>
        Members sign notes with a handle and can see why a note was not published. There is no
        e-mail or password: this page creates two keys, and only you have them.
      </p>
      <Field
        label="Handle"
        name="handle"
        code
        value={handle}
        onValue={onHandle}
        hint={HANDLE_RULE}
        error={error}
      />
    </>
  );
}
