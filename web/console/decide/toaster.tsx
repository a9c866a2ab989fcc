import { dismissToast, messageState } from '../session/messages.ts';
import { HAS_KEYBOARD, settingsState } from '../session/settings.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { startUndo } from './undo.ts';

/** Shows the latest message. The live region announces it to screen readers. */
export function Toaster() {
  const { toast } = messageState();
  const { keys } = settingsState();
  if (!toast) return null;
  const { text, about, undo, tone } = toast;
  return (
    <aside class={`toast ${tone}`} aria-label="Last action">
      <span>
        {text}
        {about && (
          <>
            {' '}
            “<MarkedText text={about} />”
          </>
        )}
      </span>
      {undo && (
        <button type="button" class="button quiet" onClick={() => startUndo(undo)}>
          Undo {keys && HAS_KEYBOARD && '(u)'}
        </button>
      )}
      <button type="button" class="button quiet" aria-label="Dismiss" onClick={dismissToast}>
        ×
      </button>
    </aside>
  );
}
