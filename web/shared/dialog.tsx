import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Called before Escape or the button closes the dialog; return false to keep unsaved input. */
  canClose?: () => boolean;
  children: ComponentChildren;
}

/** A native modal dialog: it traps the focus, closes on Escape and then restores the focus. */
export function Dialog({ title, onClose, canClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  // Runs again when the title changes, so that each step of a dialog is read from its beginning.
  useLayoutEffect(() => {
    // Skip checkboxes and what is only shown: the text before them must be read first.
    const field = dialog.current?.querySelector<HTMLElement>(
      'input:not([type="checkbox"], [readonly]), textarea',
    );
    // An `autofocus` attribute takes precedence.
    const first = dialog.current?.querySelector<HTMLElement>('[autofocus]');
    (first ?? field ?? heading.current)?.focus();
  }, [title]);
  const close = () => {
    if (canClose?.() ?? true) onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={({ currentTarget }) => {
        // Chromium closes the dialog on a repeated Escape, although `cancel` is prevented.
        if (!currentTarget.isConnected) return;
        if (canClose?.() ?? true) onClose();
        else currentTarget.showModal();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id} ref={heading} tabIndex={-1}>
            {title}
          </h2>
          <button type="button" class="button quiet close" onClick={close}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
