import { goOn, keepsGoing, wantsToKeepGoing } from '../claims/keep-going.ts';
import { switchNotify } from '../live/notifications.ts';
import { connectionState } from '../session/connection.ts';
import { changeSetting, settingsState, supportsNotifications } from '../session/settings.ts';
import { showHelp, switchKeys } from './keys.ts';
import { signOut } from './signing-in.ts';

const STREAM = {
  live: 'Live',
  connecting: 'Connecting',
  paused: 'Live updates paused',
} as const;

export function TopBar() {
  const { me, stream } = connectionState();
  const { keys, notify } = settingsState();
  return (
    <header class="top">
      <button type="button" class="visually-hidden skip" onClick={focusDesk}>
        Skip to the queue
      </button>
      <p class="title">Moderation</p>
      <p class={`stream ${stream}`}>
        <span class="dot" aria-hidden="true" />
        <span>
          {STREAM[stream]}
          {stream === 'paused' && <span class="wide-only">: checking every 15 seconds</span>}
        </span>
      </p>
      <div class="top-end">
        {me?.role !== 'auditor' && (
          <label class="check keep-going" title="After each decision, claim the next free item">
            <input
              type="checkbox"
              checked={wantsToKeepGoing()}
              onChange={(event) => {
                const on = event.currentTarget.checked;
                changeSetting('keepGoing', on);
                if (on && keepsGoing()) goOn(null);
              }}
            />
            Keep going
          </label>
        )}
        <label class="check keys">
          <input
            type="checkbox"
            checked={keys}
            onChange={(event) => switchKeys(event.currentTarget.checked)}
          />
          Shortcuts
        </label>
        {supportsNotifications() && (
          <label class="check notify">
            <input
              type="checkbox"
              checked={notify}
              onChange={(event) => void switchNotify(event.currentTarget.checked)}
            />
            Notify me
          </label>
        )}
        <button
          type="button"
          class="button quiet key-help"
          aria-keyshortcuts={keys ? '?' : undefined}
          onClick={() => showHelp(true)}
        >
          Help {keys && <kbd>?</kbd>}
        </button>
        <span class="who">
          <bdi>{me?.name}</bdi> <span class="role wide-only">{me?.role}</span>
        </span>
        <button type="button" class="button quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

function focusDesk(): void {
  document.querySelector<HTMLElement>('#desk .row-main, #desk h2')?.focus();
}
