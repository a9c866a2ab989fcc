import { goOn, keepsGoing } from '../claims/keep-going.ts';
import { supportsNotifications, switchNotify } from '../live/notifications.ts';
import { set, store, switchKeepGoing, switchKeys, wantsToKeepGoing } from '../session/state.ts';
import { useStore } from '../session/store.ts';
import { signOut } from './signing-in.ts';

const STREAM = {
  live: 'Live',
  connecting: 'Connecting',
  paused: 'Live updates paused',
} as const;

export function TopBar() {
  const state = useStore(store);
  const { me, keys, notify, stream } = state;
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
              checked={wantsToKeepGoing(state)}
              onChange={(event) => {
                const on = event.currentTarget.checked;
                switchKeepGoing(on);
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
          onClick={() => set({ help: true })}
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
