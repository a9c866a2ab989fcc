import { createState } from './store.ts';

/**
 * Whether the device has a mouse or a touch pad, and therefore most probably a keyboard: others see
 * no hints at keys. The keys themselves work on every device.
 */
export const HAS_KEYBOARD = matchMedia('(hover: hover) and (pointer: fine)').matches;

export const supportsNotifications = (): boolean => 'Notification' in globalThis;

/** What a moderator has chosen in this browser. */
interface Settings {
  /** Keyboard shortcuts are on. */
  keys: boolean;
  /** Rows of the list have one line of text. */
  compact: boolean;
  /** Whether a decision claims the next free item; null until the moderator has chosen. */
  keepGoing: boolean | null;
  /** The browser notifies of new items while the page is not looked at. */
  notify: boolean;
}

const NAMES: Readonly<Record<keyof Settings, string>> = {
  keys: 'moderation.keys',
  compact: 'moderation.compact',
  keepGoing: 'moderation.keep-going',
  notify: 'moderation.notify',
};

/** Null until the moderator has chosen, and without storage, where each tab starts anew. */
function readSetting(name: keyof Settings): boolean | null {
  try {
    const setting = localStorage.getItem(NAMES[name]);
    return setting === null ? null : setting === 'on';
  } catch {
    return null;
  }
}

export const settingsState = createState<Settings>({
  page: {
    keys: readSetting('keys') ?? true,
    compact: readSetting('compact') ?? false,
    keepGoing: readSetting('keepGoing'),
    notify:
      supportsNotifications() &&
      Notification.permission === 'granted' &&
      readSetting('notify') === true,
  },
});

/** Changes a setting, and keeps it in this browser. */
export function changeSetting(name: keyof Settings, on: boolean): void {
  settingsState.set({ [name]: on });
  try {
    localStorage.setItem(NAMES[name], on ? 'on' : 'off');
  } catch {
    // The storage is full or forbidden, so the setting applies to this tab only.
  }
}
