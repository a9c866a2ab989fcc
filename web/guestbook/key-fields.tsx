import { useId, useState } from 'preact/hooks';
import { Field } from '../shared/field.tsx';
import { readKeyFile } from './key-file.ts';

export interface Proof {
  /** The member id; in the form of a sign-in it may be the handle. */
  id: string;
  key: string;
  /** As the key file says. */
  handle?: string | undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
export const HANDLE = /^[a-z][a-z0-9_]{2,23}$/;

export const isMemberId = (text: string): boolean => UUID.test(text.trim());

/** A key as it was written down: in groups, on several lines or in capital letters. */
export const toKey = (text: string): string => text.replace(/\s/g, '').toLowerCase();

export const toHandle = (text: string): string => text.trim().toLowerCase();

/** Validates the format of an id, or a handle where that is accepted, and a key before they are sent. */
export function proofErrors(
  { id, key }: Proof,
  { byHandle = false } = {},
): { id?: string; key?: string } {
  const known = isMemberId(id) || (byHandle && HANDLE.test(toHandle(id)));
  return {
    ...(known ? {} : { id: idError(id, byHandle) }),
    ...(/^[0-9a-f]{64}$/.test(toKey(key)) ? {} : { key: 'A key has 64 characters: 0–9 and a–f.' }),
  };
}

function idError(id: string, byHandle: boolean): string {
  if (byHandle)
    return id.trim() === ''
      ? 'Enter your handle, or choose your key file.'
      : 'This is neither a handle nor a member id.';
  return id.trim() === ''
    ? 'Choose your key file, or paste the member id.'
    : 'A member id looks like 7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f.';
}

interface ProofProps {
  proof: Proof;
  onProof: (proof: Proof) => void;
  which: 'sign_in_key' | 'recovery_key';
  errors: { id?: string | undefined; key?: string | undefined };
  /** Whether the handle is accepted in place of the member id. */
  byHandle?: boolean;
  /** The handle of the member who is signed in, whose key it must be: the form does not ask for the id. */
  handle?: string | undefined;
}

const LABELS = { sign_in_key: 'Sign-in key', recovery_key: 'Recovery key' };
const PROVE_THEIR_ID = 'This is the key file of another member.';

/**
 * Fields for a member and a key. A password manager fills them, or a key file, chosen or pasted. It never
 * fills in a recovery key, which it does not have.
 */
export function ProofFields({
  proof,
  onProof,
  which,
  errors,
  byHandle = false,
  handle,
}: ProofProps) {
  const [fileError, setFileError] = useState('');
  const fileId = useId();
  const signsIn = which === 'sign_in_key';

  const fill = (text: string): boolean => {
    const keys = readKeyFile(text);
    if (!keys) return false;
    if (handle && keys.id !== proof.id) {
      setFileError(PROVE_THEIR_ID);
      return true;
    }
    setFileError(
      keys[which] && keys.id ? '' : 'This file does not contain both the member id and the key.',
    );
    onProof({
      id: (byHandle ? keys.handle : undefined) ?? keys.id ?? proof.id,
      key: keys[which] ?? proof.key,
      handle: keys.handle,
    });
    return true;
  };
  const read = async (file: File | undefined) => {
    if (file && !(file.size < 10_000 && fill(await file.text())))
      setFileError('This is not a key file.');
  };
  const changeProof = (changes: Partial<Proof>, text: string) => {
    if (!fill(text)) onProof({ ...proof, handle: undefined, ...changes });
  };

  const fields = (
    <>
      {handle ? (
        signsIn && <input type="text" autoComplete="username" value={handle} readOnly hidden />
      ) : (
        <Field
          label={byHandle ? 'Handle or member id' : 'Member id'}
          name={byHandle ? 'username' : 'id'}
          autoComplete={byHandle ? 'username webauthn' : 'off'}
          code
          value={proof.id}
          onValue={(id) => changeProof({ id }, id)}
          error={errors.id}
        />
      )}
      <Field
        label={LABELS[which]}
        name={signsIn ? 'password' : 'recovery_key'}
        autoComplete={signsIn ? 'current-password' : 'off'}
        code
        secret
        value={proof.key}
        onValue={(key) => changeProof({ key }, key)}
        error={errors.key}
      />
    </>
  );
  const file = (
    <div class="field">
      <label for={fileId}>Key file</label>
      <input
        id={fileId}
        class="input"
        type="file"
        accept=".json,application/json"
        aria-describedby={fileError ? `${fileId}-error` : undefined}
        aria-invalid={fileError ? 'true' : undefined}
        onChange={(event) => void read(event.currentTarget.files?.[0])}
      />
      {fileError && (
        <span class="error" id={`${fileId}-error`}>
          {fileError}
        </span>
      )}
    </div>
  );
  return byHandle ? (
    <>
      {fields}
      <p class="or">or choose the file</p>
      {file}
    </>
  ) : (
    <>
      {file}
      <p class="or">or {signsIn ? 'enter' : 'paste'}</p>
      {fields}
    </>
  );
}
