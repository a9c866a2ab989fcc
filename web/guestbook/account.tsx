import { useState } from 'preact/hooks';
import { Field } from '../shared/field.tsx';
import { Alert } from '../shared/live-region.tsx';
import { When } from '../shared/time.tsx';
import { createDeletion, EraseNotes } from './delete-account.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields, proofErrors, toKey } from './key-fields.tsx';
import { type Failure, failureText } from './problem-text.ts';
import type { Membership, Session } from './session.ts';

interface AccountProps {
  membership: Membership;
  session: Session;
  onSignedOut: () => void;
  onRecover: () => void;
  onDelete: () => void;
}

/** Who is signed in until when, and what ends that. */
export function AccountDetails({
  membership,
  session,
  onSignedOut,
  onRecover,
  onDelete,
}: AccountProps) {
  const [failure, setFailure] = useState<Failure>();

  async function signOut(): Promise<void> {
    const answer = await membership.signOut();
    if (answer.kind === 'ok') onSignedOut();
    else setFailure(answer);
  }

  const until = new Date(session.expiresAt * 1000);
  return (
    <>
      <dl class="keys">
        <dt>Member id</dt>
        <dd class="code">{session.id}</dd>
        <dt>Signed in until</dt>
        <dd>
          <When at={until.toISOString()} />
        </dd>
      </dl>
      {failure && <Alert>{failureText(failure)}</Alert>}
      <div class="row">
        <button type="button" class="button primary" onClick={() => void signOut()}>
          Sign out
        </button>
        <button type="button" class="button" onClick={onRecover}>
          Replace my keys
        </button>
        <button type="button" class="button danger" onClick={onDelete}>
          Delete my account
        </button>
      </div>
    </>
  );
}

interface DeleteProps {
  session: Session;
  /** The sign-in key, if the member entered it on this page. */
  knownKey: string | undefined;
  onClose: () => void;
  onDeleted: () => void;
}

export function DeleteDialog({ session, knownKey, onClose, onDeleted }: DeleteProps) {
  const [handle, setHandle] = useState('');
  const [erase, setErase] = useState(false);
  const [proof, setProof] = useState<Proof>({ id: session.id, key: knownKey ?? '' });
  const [deleteAccount] = useState(() => createDeletion(session));
  const errors = proofErrors(proof);
  const mismatch = handle !== session.handle;
  const state = useForm({
    complete: !mismatch && !errors.id && !errors.key,
    async send() {
      const answer = await deleteAccount(toKey(proof.key), erase);
      if (answer.kind !== 'ok') return answer;
      onDeleted();
      return undefined;
    },
  });
  const { tried, busy } = state;

  return (
    <FormDialog
      title="Delete my account"
      onClose={onClose}
      state={state}
      buttons={
        <button type="submit" class="button danger">
          {busy ? 'Deleting…' : 'Delete account'}
        </button>
      }
    >
      <p>
        This cannot be undone. All sessions end, unpublished notes are erased, and nobody can take
        your handle again.
      </p>
      {!knownKey && (
        <ProofFields
          proof={proof}
          onProof={setProof}
          which="sign_in_key"
          handle={session.handle}
          errors={tried ? errors : {}}
        />
      )}
      <EraseNotes checked={erase} onChecked={setErase} />
      <Field
        label={`Type ${session.handle} to confirm`}
        name="confirm"
        code
        value={handle}
        onValue={setHandle}
        error={tried && mismatch ? 'This is not your handle.' : undefined}
      />
    </FormDialog>
  );
}
