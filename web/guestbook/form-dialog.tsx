import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.tsx';
import { focusFirstError } from '../shared/field.tsx';
import { Alert } from '../shared/live-region.tsx';
import { type Failure, failureText } from './problem-text.ts';

interface FormOptions {
  /** If false, submitting sends nothing and focuses the first invalid field. */
  complete: boolean;
  /** Resolves to the failure, if any. */
  send: () => Promise<Failure | undefined>;
}

/** The state of a form with one request at a time. `tried`: submitted, so show missing fields. */
export function useForm({ complete, send }: FormOptions) {
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const form = useRef<HTMLFormElement>(null);

  async function submit(): Promise<void> {
    if (busy) return;
    setTried(true);
    if (!complete) {
      focusFirstError(form.current);
      return;
    }
    setBusy(true);
    setFailure(await send());
    setBusy(false);
  }

  return {
    form,
    tried,
    busy,
    failure,
    submit,
    /** Clears the failure after an edit. */
    clearFailure: () => setFailure(undefined),
    /** Starts the next step of the form, without error messages. */
    restart: () => setTried(false),
  };
}

interface FormDialogProps {
  title: string;
  onClose: () => void;
  state: ReturnType<typeof useForm>;
  /** A field already shows the failure. */
  hideFailure?: boolean;
  buttons: ComponentChildren;
  hint?: string;
  canClose?: () => boolean;
  children: ComponentChildren;
}

/** A dialog with one form: its fields, the failure and the submit buttons. */
export function FormDialog(props: FormDialogProps) {
  const { title, onClose, state, hideFailure, buttons, hint, canClose, children } = props;
  const { form, failure, submit } = state;
  return (
    <Dialog title={title} onClose={onClose} {...(canClose ? { canClose } : {})}>
      <form
        ref={form}
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
        {failure && !hideFailure && <Alert>{failureText(failure)}</Alert>}
        <div class="row">{buttons}</div>
        {hint && <p class="hint">{hint}</p>}
      </form>
    </Dialog>
  );
}
