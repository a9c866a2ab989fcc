import { correction, generate } from 'lean-qr';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Alert, announce } from '../shared/live-region.tsx';
import { download, type Keys, keyFileText, signInLink } from './key-file.ts';

interface NewKeysProps {
  keys: Keys;
  saved: boolean;
  onSaved: (saved: boolean) => void;
  error?: string | undefined;
}

/** Shows new keys once, to keep them before the request is sent. */
export function NewKeys({ keys, saved, onSaved, error }: NewKeysProps) {
  const [scanning, setScanning] = useState(false);
  const id = useId();
  const { handle } = keys;
  return (
    <>
      <div class="box accent">
        <p>
          <strong>These keys are your account.</strong> They are shown only once, and we cannot send
          them to you again. If you lose both, you lose the account.
        </p>
      </div>
      <div class="new-keys stack tight">
        <p class="printed">
          Keys of {handle ?? 'a member'} at {location.origin}, made on{' '}
          {new Date().toISOString().slice(0, 10)}. They give full access: keep this page private.
        </p>
        <dl class="keys">
          <Value name="Member id" value={keys.id} />
          <Value name="Sign-in key" value={keys.sign_in_key} />
          <Value name="Recovery key" value={keys.recovery_key} />
        </dl>
        <SignInCode keys={keys} shown={scanning} />
      </div>
      <div class="row">
        <button type="button" class="button primary" onClick={() => download(keys)}>
          Download key file
        </button>
        <CopyButton label="Copy all" text={keyFileText(keys)} />
        <button type="button" class="button" onClick={() => print()}>
          Print
        </button>
        <button
          type="button"
          class="button"
          aria-expanded={scanning}
          onClick={() => setScanning(!scanning)}
        >
          QR code
        </button>
      </div>
      <div class="pair">
        <p class="hint" id={`${id}-hint`}>
          A password manager can keep these two, and fill them in when you sign in:
        </p>
        <div class="field">
          <label for={`${id}-name`}>{handle ? 'Handle' : 'Member id'}</label>
          <input
            id={`${id}-name`}
            class="input code"
            name="username"
            autoComplete="username"
            value={handle ?? keys.id}
            aria-describedby={`${id}-hint`}
            readOnly
          />
        </div>
        <div class="field">
          <label for={`${id}-key`}>Sign-in key</label>
          <input
            id={`${id}-key`}
            class="input code"
            type="password"
            name="password"
            autoComplete="new-password"
            value={keys.sign_in_key}
            aria-describedby={`${id}-hint`}
            readOnly
          />
        </div>
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

/**
 * Asks once before new keys are thrown away: in the dialog, which then shows `Discarding`, and by the browser
 * if the page is left.
 */
export function useUnsentKeys(unsent: boolean) {
  const [asking, setAsking] = useState(false);
  // Before the next paint: a page that shows no keys any more must not ask.
  useLayoutEffect(() => {
    setAsking(false);
    if (!unsent) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [unsent]);
  const canClose = (): boolean => {
    if (!unsent || asking) return true;
    setAsking(true);
    return false;
  };
  return { asking, canClose };
}

/** Says what is lost with the keys that were not sent. */
export function Discarding({ what, onDiscard }: { what: string; onDiscard: () => void }) {
  const question = useRef<HTMLDivElement>(null);
  useEffect(() => question.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <div ref={question} class="stack tight">
      <Alert>{what} If you close now, these keys are gone, and a copy of them opens nothing.</Alert>
      <p>
        <button type="button" class="button danger" onClick={onDiscard}>
          Discard the keys
        </button>
      </p>
    </div>
  );
}

/** An id, or a key in groups, which are easier to compare and to type. A key is copied without gaps. */
function Value({ name, value }: { name: string; value: string }) {
  const groups = /^[0-9a-f]{64}$/.test(value) ? (value.match(/.{8}/g) ?? []) : [value];
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <span class="code">
          {groups.map((group, index) => (
            <span key={index}>
              {group}
              <wbr />
            </span>
          ))}
        </span>
        <CopyButton label="Copy" of={name} text={value} />
      </dd>
    </>
  );
}

/** Copies a text; says for a while that it did. `of` tells buttons of the same label apart. */
function CopyButton({ label, of, text }: { label: string; of?: string; text: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 5000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      class={of ? 'button quiet' : 'button'}
      onClick={() =>
        void navigator.clipboard.writeText(text).then(
          () => {
            setCopied(true);
            announce(`${of ?? 'Keys'} copied`);
          },
          () => setCopied(false),
        )
      }
    >
      {copied ? 'Copied' : label}
      {of && <span class="visually-hidden"> the {of.toLowerCase()}</span>}
    </button>
  );
}

/** A QR code that opens the sign-in form on a phone. It is drawn here: the service never gets these keys in it. */
function SignInCode({ keys, shown }: { keys: Keys; shown: boolean }) {
  const { size, path } = useMemo(() => toPath(signInLink(keys)), [keys.sign_in_key]);
  return (
    <figure class={shown ? 'qr' : 'qr printed'}>
      <svg
        viewBox={`-4 -4 ${size + 8} ${size + 8}`}
        role="img"
        aria-label="QR code with the sign-in key"
      >
        <path d={path} />
      </svg>
      <figcaption class="hint">
        Scan it with your phone to sign in there. It has the sign-in key, so keep it to yourself.
      </figcaption>
    </figure>
  );
}

/** The dark squares of a QR code as one path. */
function toPath(text: string): { size: number; path: string } {
  const { size, get } = generate(text, { minCorrectionLevel: correction.L });
  let path = '';
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) if (get(x, y)) path += `M${x} ${y}h1v1h-1z`;
  return { size, path };
}
