import { Dialog } from '../../shared/dialog.tsx';
import { settingsState } from '../session/settings.ts';
import { SHORTCUTS, showHelp, switchKeys } from './keys.ts';

export function Help() {
  const { keys } = settingsState();
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => showHelp(false)}>
      <dl class="key-list">
        {SHORTCUTS.map(([key, words]) => (
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
        A claim reserves an item for you for five minutes. It is renewed while this tab is visible,
        for at most thirty minutes. You can undo a decision during the undo window; its author is
        notified afterwards.
      </p>
    </Dialog>
  );
}
