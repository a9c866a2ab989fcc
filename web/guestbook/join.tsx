import { useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { Field, focusFirstError } from '../shared/field.tsx';
import { FormDialog, useSending } from './form-dialog.tsx';
import { NewKeys } from './key-fields.tsx';
import { newKeys } from './key-file.ts';
import { type Failure, issueOf, uncertain } from './problem-text.ts';
import type { Membership } from './session.ts';

const RULE = '3 to 24 characters: a–z, 0–9 and _, starting with a letter';
const TAKEN = 'This handle is taken. Choose another.';

/** Registers a member: handle, keys, account, in this order, so that the keys are saved first. */
export function JoinDialog(parts: { membership: Membership; onClose: () => void }) {
  const { membership, onClose } = parts;
  const [handle, setHandle] = useState('');
  const [keys, setKeys] = useState(newKeys);
  const [step, setStep] = useState<'handle' | 'keys'>('handle');
  const [kept, setKept] = useState(false);
  const fits = /^[a-z][a-z0-9_]{2,23}$/.test(handle);
  const sending = useSending({
    complete: step === 'handle' ? fits : kept,
    send: () => (step === 'handle' ? showKeys() : register()),
  });
  const { form, tried, busy, failure } = sending;
  const taken = failure?.kind === 'problem' && failure.code === 'registration_conflict';
  const refused = taken ? TAKEN : issueOf(failure, 'handle');

  async function showKeys(): Promise<undefined> {
    setStep('keys');
    sending.restart();
  }

  async function register(): Promise<Failure | undefined> {
    const { id, sign_in_key, recovery_key } = keys;
    const body = { id, handle, sign_in_key, recovery_key };
    const registered = await call<unknown>('POST', '/api/membership/register', { body });
    const answer =
      registered.kind === 'done' ? await membership.signIn(id, sign_in_key) : registered;
    if (answer.kind === 'done') {
      onClose();
      return undefined;
    }
    if (answer.kind === 'problem' && !uncertain(answer) && registered.kind !== 'done') {
      setStep('handle');
      setKept(false);
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
      sending={sending}
      told={refused !== undefined}
      buttons={
        <button type="submit" class={step === 'handle' ? 'button primary' : 'button handle'}>
          {step === 'handle' ? 'Create keys' : busy ? 'Joining…' : `Join as ${handle}`}
        </button>
      }
    >
      {step === 'handle' ? (
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
            onValue={(text) => {
              setHandle(text);
              sending.changed();
            }}
            hint={RULE}
            error={refused ?? (tried && !fits ? `Use ${RULE}.` : undefined)}
          />
        </>
      ) : (
        <NewKeys
          keys={{ ...keys, handle }}
          kept={kept}
          onKept={setKept}
          error={
            tried && !kept ? 'Save your keys first. There is no other way back in.' : undefined
          }
        />
      )}
    </FormDialog>
  );
}
