import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { signIn, signInState } from './signing-in.ts';

/** The sign-in form: a page, or with `asDialog` a dialog on the page after the session was lost. */
export function SignIn({ asDialog = false }: { asDialog?: boolean }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState(asDialog ? null : signInState().fault);
  const [sending, setSending] = useState(false);
  // Move the focus before the next key, when the dialog opens and when it closes.
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    field.current?.focus();
    return () => {
      shown?.close();
      if (shown && before instanceof HTMLElement) before.focus();
    };
  }, [asDialog]);
  const submit = async (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (sending) return;
    if (token === '') {
      setFault('Paste the token that the operator gave you.');
      field.current?.focus();
      return;
    }
    setSending(true);
    const answer = await signIn(token);
    setSending(false);
    setFault(answer);
    if (answer) field.current?.focus();
  };
  const form = (
    <form class="sign-in" onSubmit={(event) => void submit(event)}>
      {asDialog ? (
        <h2 id={`${id}-title`}>Your session has ended</h2>
      ) : (
        <h1 id={`${id}-title`}>Moderation</h1>
      )}
      <p>
        {asDialog
          ? 'Sign in again. Your place, your selection and your texts are kept.'
          : 'Sign in with the token that the operator gave you.'}
      </p>
      {!asDialog && signInState().farewell && (
        <p class="hint" role="status">
          {signInState().farewell}
        </p>
      )}
      <TokenField id={id} input={field} fault={fault} />
      <button type="submit" class="button primary" aria-disabled={sending ? 'true' : undefined}>
        {sending ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
  if (!asDialog) return <main class="gate">{form}</main>;
  return (
    <dialog
      ref={dialog}
      class="over"
      aria-labelledby={`${id}-title`}
      onCancel={(event) => event.preventDefault()}
      onClose={({ currentTarget }) => {
        // Chromium closes the dialog on a repeated Escape, although `cancel` is prevented.
        if (!currentTarget.isConnected) return;
        currentTarget.showModal();
        field.current?.focus();
      }}
    >
      {form}
    </dialog>
  );
}

interface TokenFieldProps {
  id: string;
  input: RefObject<HTMLInputElement | null>;
  fault: string | null;
}

function TokenField({ id, input, fault }: TokenFieldProps) {
  return (
    <div class="field">
      <label for={id}>Token</label>
      <input
        ref={input}
        id={id}
        name="token"
        type="password"
        class="input code"
        autoComplete="current-password"
        spellcheck={false}
        maxLength={200}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? `${id}-fault` : undefined}
      />
      {fault && (
        <span class="error" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}
