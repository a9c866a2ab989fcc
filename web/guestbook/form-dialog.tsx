import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.tsx';
import { focusFirstError } from '../shared/field.tsx';
import { type Failure, words } from './problem-text.ts';

interface Sending {
  /** Nothing is sent before, and the first field at fault gets the focus. */
  complete: boolean;
  /** Answers what went wrong. */
  send: () => Promise<Failure | undefined>;
}

/** What a form needs that is sent once at a time; `tried`: what is missing may be told. */
export function useSending({ complete, send }: Sending) {
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
    /** Something was changed: what was wrong with it is no longer told. */
    changed: () => setFailure(undefined),
    /** The form goes on to its next step. */
    restart: () => setTried(false),
  };
}

interface FormDialogParts {
  title: string;
  onClose: () => void;
  sending: ReturnType<typeof useSending>;
  /** What went wrong is told beside its field already. */
  told?: boolean;
  buttons: ComponentChildren;
  hint?: string;
  children: ComponentChildren;
}

/** A dialog around one form: what it asks, what went wrong, and the buttons that send it. */
export function FormDialog(parts: FormDialogParts) {
  const { title, onClose, sending, told, buttons, hint, children } = parts;
  const { form, failure, submit } = sending;
  return (
    <Dialog title={title} onClose={onClose}>
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
        {failure && !told && (
          <p class="box bad" role="alert">
            {words(failure)}
          </p>
        )}
        <div class="row">{buttons}</div>
        {hint && <p class="hint">{hint}</p>}
      </form>
    </Dialog>
  );
}
