import { useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Field, focusFirstError } from '../shared/field.tsx';
import { NewKeys } from './key-fields.tsx';
import { newKeys } from './key-file.ts';
import { issueOf, uncertain, words } from './problem-text.ts';
import type { Membership } from './session.ts';

type Failure = Exclude<Answer<never>, { kind: 'done' }>;

const RULE = '3 to 24 of a–z, 0–9 and _, starting with a letter';
const TAKEN = 'This handle belongs to somebody else. Choose another.';

/** A handle, keys made in this page, and the account: in this order, so that no key is lost. */
export function JoinDialog({
  membership,
  onClose,
}: {
  membership: Membership;
  onClose: () => void;
}) {
  const [handle, setHandle] = useState('');
  const [keys, setKeys] = useState(newKeys);
  const [step, setStep] = useState<'handle' | 'keys'>('handle');
  const [kept, setKept] = useState(false);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const form = useRef<HTMLFormElement>(null);
  const taken = failure?.kind === 'problem' && failure.code === 'registration_conflict';
  const fits = /^[a-z][a-z0-9_]{2,23}$/.test(handle);

  async function go(): Promise<void> {
    setTried(true);
    if (busy) return;
    if (step === 'handle' ? !fits : !kept) {
      focusFirstError(form.current);
      return;
    }
    if (step === 'handle') {
      setTried(false);
      setFailure(undefined);
      setStep('keys');
      return;
    }
    setBusy(true);
    const { id, sign_in_key, recovery_key } = keys;
    const body = { id, handle, sign_in_key, recovery_key };
    const registered = await call('POST', '/api/membership/register', { body });
    const answer =
      registered.kind === 'done' ? await membership.signIn(id, sign_in_key) : registered;
    setBusy(false);
    if (answer.kind === 'done') {
      onClose();
      return;
    }
    setFailure(answer);
    if (answer.kind === 'problem' && !uncertain(answer) && registered.kind !== 'done') {
      setStep('handle');
      setKept(false);
      // Nothing was registered under these: another handle gets keys of its own.
      setKeys(newKeys());
      focusFirstError(form.current);
    }
  }

  return (
    <Dialog title={step === 'handle' ? 'Join' : 'Keep your keys'} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        {step === 'handle' ? (
          <>
            <p>
              Members sign their notes with a handle and learn what became of them. No e-mail, no
              password: this page makes two keys, and you keep them.
            </p>
            <Field
              label="Handle"
              name="handle"
              code
              value={handle}
              onValue={(text) => {
                setHandle(text);
                setFailure(undefined);
              }}
              hint={RULE}
              error={
                taken
                  ? TAKEN
                  : (issueOf(failure, 'handle') ?? (tried && !fits ? `Use ${RULE}.` : undefined))
              }
            />
          </>
        ) : (
          <NewKeys
            keys={{ ...keys, handle }}
            kept={kept}
            onKept={setKept}
            error={tried && !kept ? 'Keep them first: there is no other way back in.' : undefined}
          />
        )}
        {failure && !taken && (
          <p class="box bad" role="alert">
            {words(failure)}
          </p>
        )}
        <div class="row">
          <button type="submit" class={step === 'handle' ? 'button primary' : 'button'}>
            {step === 'handle' ? 'Make my keys' : busy ? 'Joining…' : `Join as ${handle}`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
