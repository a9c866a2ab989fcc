import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

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
  // Also where a dialog goes on to its next step: what is new is read from its beginning.
  useLayoutEffect(() => {
    // A box to tick comes with what is read before it.
    const field = dialog.current?.querySelector<HTMLElement>(
      'input:not([type="checkbox"]), textarea',
    );
    // A dialog that says where to begin is taken at its word.
    const first = dialog.current?.querySelector<HTMLElement>('[autofocus]');
    (first ?? field ?? heading.current)?.focus();
  }, [title]);
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
      onClose={({ currentTarget }) => {
        // At a repeated Escape Chromium closes it all the same.
        if (!currentTarget.isConnected) return;
        if (mayClose?.() ?? true) onClose();
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
