import { useId, useState } from 'preact/hooks';
import { Field } from '../shared/field.tsx';
import { download, type Keys, keyFileText, readKeyFile } from './key-file.ts';

export interface Proof {
  id: string;
  key: string;
  /** As the key file says. */
  handle?: string | undefined;
}

interface ProofProps {
  proof: Proof;
  onProof: (proof: Proof) => void;
  which: 'sign_in_key' | 'recovery_key';
  errors: { id?: string | undefined; key?: string | undefined };
}

const LABELS = { sign_in_key: 'Sign-in key', recovery_key: 'Recovery key' };

/** Fields for a member id and a key. A key file, chosen or pasted, fills both. */
export function ProofFields({ proof, onProof, which, errors }: ProofProps) {
  const [fileError, setFileError] = useState('');
  const fileId = useId();

  const fill = (text: string): boolean => {
    const keys = readKeyFile(text);
    if (!keys) return false;
    setFileError(
      keys[which] && keys.id ? '' : 'This file does not contain both the member id and the key.',
    );
    onProof({ id: keys.id ?? proof.id, key: keys[which] ?? proof.key, handle: keys.handle });
    return true;
  };
  const read = async (file: File | undefined) => {
    if (file && !(file.size < 10_000 && fill(await file.text())))
      setFileError('This is not a key file.');
  };
  const changeProof = (changes: Partial<Proof>, text: string) => {
    if (!fill(text)) onProof({ ...proof, handle: undefined, ...changes });
  };

  return (
    <>
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
      <p class="or">or paste</p>
      <Field
        label="Member id"
        name="id"
        code
        value={proof.id}
        onValue={(id) => changeProof({ id }, id)}
        error={errors.id}
      />
      <Field
        label={LABELS[which]}
        name="key"
        code
        secret
        value={proof.key}
        onValue={(key) => changeProof({ key }, key)}
        error={errors.key}
      />
    </>
  );
}

interface NewKeysProps {
  keys: Keys;
  saved: boolean;
  onSaved: (saved: boolean) => void;
  error?: string | undefined;
}

/** Shows new keys once, to download or copy before the request is sent. */
export function NewKeys({ keys, saved, onSaved, error }: NewKeysProps) {
  const [copied, setCopied] = useState(false);
  return (
    <>
      <div class="box accent">
        <p>
          <strong>These keys are your account.</strong> They are shown only once, and nobody can
          send them to you again. If you lose both, you lose the account.
        </p>
      </div>
      <dl class="keys">
        <dt>Member id</dt>
        <dd class="code">{keys.id}</dd>
        <dt>Sign-in key</dt>
        <dd class="code">{keys.sign_in_key}</dd>
        <dt>Recovery key</dt>
        <dd class="code">{keys.recovery_key}</dd>
      </dl>
      <div class="row">
        <button type="button" class="button primary" onClick={() => download(keys)}>
          Download key file
        </button>
        <button
          type="button"
          class="button"
          onClick={() =>
            void navigator.clipboard.writeText(keyFileText(keys)).then(
              () => setCopied(true),
              () => setCopied(false),
            )
          }
        >
          {copied ? 'Copied' : 'Copy'}
        </button>
      </div>
      <div>
        <label class="check">
          <input
            type="checkbox"
            checked={saved}
            aria-invalid={error ? 'true' : undefined}
            aria-describedby={error ? 'saved-error' : undefined}
            onChange={(event) => onSaved(event.currentTarget.checked)}
          />
          I saved my keys. They cannot be restored.
        </label>
        {error && (
          <p class="error" id="saved-error">
            {error}
          </p>
        )}
      </div>
    </>
  );
}
