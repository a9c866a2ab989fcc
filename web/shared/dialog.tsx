import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogParts {
  title: string;
  onClose: () => void;
  /** Asked before Escape or the button closes it: what would be lost is not lost by accident. */
  mayClose?: () => boolean;
  children: ComponentChildren;
}

/** The browser's own modal dialog: focus stays inside, Escape closes, focus goes back after. */
export function Dialog({ title, onClose, mayClose, children }: DialogParts) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const close = () => {
    if (mayClose?.() ?? true) onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="button quiet" onClick={close}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
