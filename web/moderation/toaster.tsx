import { set, store } from './state.ts';
import { useStore } from './store.ts';
import { undo } from './undo.ts';

/** What was just done, for the eye; the live region tells it to the ear. */
export function Toaster() {
  const { toast, keys } = useStore(store);
  if (!toast) return null;
  return (
    <aside class={`toast ${toast.tone}`} aria-label="What was done">
      <span>{toast.text}</span>
      {toast.undo && (
        <button type="button" class="button quiet" onClick={() => void undo()}>
          Undo {keys && '(u)'}
        </button>
      )}
      <button
        type="button"
        class="button quiet"
        aria-label="Dismiss"
        onClick={() => set({ toast: null })}
      >
        ×
      </button>
    </aside>
  );
}
