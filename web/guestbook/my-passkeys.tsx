import { useContext, useEffect, useState } from 'preact/hooks';
import { Field } from '../shared/field.tsx';
import { Alert, announce } from '../shared/live-region.tsx';
import { UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { Site } from '../site/frame.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields, proofErrors, toKey } from './key-fields.tsx';
import {
  addPasskey,
  changePasskey,
  listPasskeys,
  type Passkey,
  supportsPasskeys,
} from './passkey.ts';
import { type Failure, failureText, fieldError, needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';

interface PasskeysProps {
  session: Session;
  /** The sign-in key, if the member entered it since the page was opened. */
  knownKey: string | undefined;
}

/** The member's passkeys: to add, rename and remove. */
export function MyPasskeys({ session, knownKey }: PasskeysProps) {
  const { passkeys: offered } = useContext(Site);
  const [passkeys, setPasskeys] = useState<Passkey[]>();
  const [failure, setFailure] = useState<Failure>();
  const [adding, setAdding] = useState(false);
  const [renaming, setRenaming] = useState<Passkey>();

  async function load(): Promise<void> {
    const answer = await listPasskeys();
    if (answer.kind === 'ok') setPasskeys(answer.body.passkeys);
    else fail(answer);
  }

  function fail(answer: Failure): void {
    setFailure(answer);
    if (needsSignIn(answer)) session.end({ showNotice: true });
  }

  async function remove({ id }: Passkey): Promise<void> {
    setFailure(undefined);
    const answer = await changePasskey('remove', { passkey_id: id });
    if (answer.kind !== 'ok') fail(answer);
    else announce('Passkey removed');
    await load();
  }

  function changed(confirmation: string): void {
    setAdding(false);
    setRenaming(undefined);
    setFailure(undefined);
    announce(confirmation);
    void load();
  }

  useEffect(() => void load(), [session.id]);

  const usable = offered && supportsPasskeys();
  return (
    <section class="stack tight" aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <p>
        {usable
          ? 'With a passkey, this device signs you in by fingerprint, face or PIN. Your keys stay the way back in.'
          : offered
            ? 'This browser has no passkeys.'
            : 'There are no passkeys at this address: they need a host name, and https or localhost.'}
      </p>
      {failure && <Alert>{failureText(failure)}</Alert>}
      <ul class="lines">
        {passkeys?.map((passkey) => (
          <li key={passkey.id}>
            <PasskeyLine
              passkey={passkey}
              onRename={() => setRenaming(passkey)}
              onRemove={() => void remove(passkey)}
            />
          </li>
        ))}
      </ul>
      {usable && (
        <p>
          <button type="button" class="button" onClick={() => setAdding(true)}>
            Add a passkey
          </button>
        </p>
      )}
      {adding && (
        <AddDialog
          session={session}
          knownKey={knownKey}
          onClose={() => setAdding(false)}
          onAdded={() => changed('Passkey added')}
        />
      )}
      {renaming && (
        <RenameDialog
          passkey={renaming}
          onClose={() => setRenaming(undefined)}
          onRenamed={() => changed('Passkey renamed')}
        />
      )}
    </section>
  );
}

interface LineProps {
  passkey: Passkey;
  onRename: () => void;
  onRemove: () => void;
}

function PasskeyLine({ passkey, onRename, onRemove }: LineProps) {
  const { id, name, added_at, last_used_on } = passkey;
  return (
    <>
      <p id={`passkey-${id}`}>
        <UserText text={name} />, added <When at={added_at} />,{' '}
        {last_used_on ? `last used on ${last_used_on}` : 'never used'}
      </p>
      <div class="row">
        <button
          type="button"
          class="button quiet"
          aria-describedby={`passkey-${id}`}
          onClick={onRename}
        >
          Rename
        </button>
        <button
          type="button"
          class="button quiet"
          aria-describedby={`passkey-${id}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </div>
    </>
  );
}

const nameError = (name: string): string | undefined =>
  name.trim() === '' ? 'Give it a name, such as the device.' : undefined;

interface AddProps extends PasskeysProps {
  onClose: () => void;
  onAdded: () => void;
}

function AddDialog({ session, knownKey, onClose, onAdded }: AddProps) {
  const [name, setName] = useState('');
  const [proof, setProof] = useState<Proof>({ id: session.id, key: knownKey ?? '' });
  const [unanswered, setUnanswered] = useState('');
  const errors = { ...proofErrors(proof), name: nameError(name) };
  const state = useForm({
    complete: !errors.name && !errors.key,
    async send() {
      setUnanswered('');
      const answer = await addPasskey(name.trim(), toKey(proof.key));
      if (answer.kind === 'ok') onAdded();
      if (answer.kind === 'unanswered') setUnanswered(answer.message);
      return answer.kind === 'ok' || answer.kind === 'unanswered' ? undefined : answer;
    },
  });
  const { tried, busy, failure } = state;
  return (
    <FormDialog
      title="Add a passkey"
      onClose={onClose}
      state={state}
      hint="We never store your key."
      buttons={
        <button type="submit" class="button primary">
          {busy ? 'Waiting for the device…' : 'Add passkey'}
        </button>
      }
    >
      <Field
        label="Name"
        name="passkey_name"
        value={name}
        onValue={setName}
        maxLength={60}
        hint="For yourself, such as “Laptop”"
        error={(tried && errors.name) || fieldError(failure, 'name')}
      />
      {!knownKey && (
        <ProofFields
          proof={proof}
          onProof={setProof}
          which="sign_in_key"
          handle={session.handle}
          errors={tried ? errors : {}}
        />
      )}
      {unanswered && <Alert>{unanswered}</Alert>}
    </FormDialog>
  );
}

interface RenameProps {
  passkey: Passkey;
  onClose: () => void;
  onRenamed: () => void;
}

function RenameDialog({ passkey, onClose, onRenamed }: RenameProps) {
  const [name, setName] = useState(passkey.name);
  const error = nameError(name);
  const state = useForm({
    complete: !error,
    async send() {
      const body = { passkey_id: passkey.id, name: name.trim() };
      const answer = await changePasskey('rename', body);
      if (answer.kind !== 'ok') return answer;
      onRenamed();
      return undefined;
    },
  });
  return (
    <FormDialog
      title="Rename the passkey"
      onClose={onClose}
      state={state}
      buttons={
        <button type="submit" class="button primary">
          Rename
        </button>
      }
    >
      <Field
        label="Name"
        name="passkey_name"
        value={name}
        onValue={setName}
        maxLength={60}
        error={(state.tried && error) || fieldError(state.failure, 'name')}
      />
    </FormDialog>
  );
}
