import { Dialog } from '../shared/dialog.tsx';
import { KEYS } from './keys.ts';
import { set, store, switchKeys } from './state.ts';
import { useStore } from './store.ts';

export function Help() {
  const { keys } = useStore(store);
  return (
    <Dialog title="Keys" onClose={() => set({ help: false })}>
      <dl class="key-list">
        {KEYS.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={keys}
          onChange={(event) => switchKeys(event.currentTarget.checked)}
        />
        Keyboard shortcuts are on. They pause while you type.
      </label>
      <p class="hint">
        Claiming a note keeps it from the others for five minutes, and for as long as this tab is
        seen, thirty minutes at most. A decision can be undone for a while before its author is
        told.
      </p>
    </Dialog>
  );
}
