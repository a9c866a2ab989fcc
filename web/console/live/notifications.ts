import { countState } from '../queue/counts.ts';
import { connectionState } from '../session/connection.ts';
import { announce, showToast } from '../session/messages.ts';
import { changeSetting, settingsState } from '../session/settings.ts';
import { onStateChange } from '../session/store.ts';
import type { Counts } from '../words/api-model.ts';
import { formatCount } from '../words/format.ts';

/** One notification, which a later one replaces. */
const TAG = 'moderation.notify';

/** What calls a moderator, and its words in a notification: counts only, never a text. */
const CALLS = [
  ['todo', 'to do'],
  ['reported', 'reported'],
  ['appeals', 'open appeals'],
] as const;

const waiting = (counts: Counts | null): number =>
  CALLS.reduce((sum, [view]) => sum + (counts?.[view] ?? 0), 0);

/** The number of waiting items for the title of the page, such as `(12) `; empty if none waits. */
export function waitingPrefix(counts: Counts | null): string {
  const count = waiting(counts);
  return count > 0 ? `(${formatCount(count)}) ` : '';
}

/** Turns notifications on, after the browser has asked, or off. */
export async function switchNotify(on: boolean): Promise<void> {
  const allowed = on && (await Notification.requestPermission()) === 'granted';
  changeSetting('notify', allowed);
  if (on && !allowed)
    showToast('The browser does not allow notifications of this page.', { tone: 'alert' });
  else announce(on ? 'Notifications are on.' : 'Notifications are off.');
}

/** Shows counts in the icon, and notifies of new items while the page is not looked at. */
export function followCounts(): void {
  let before: Counts | null = null;
  onStateChange(() => {
    const { counts } = countState();
    const { session } = connectionState();
    if (counts === before) return;
    const more = before && counts ? CALLS.some(([view]) => isMore(counts, before, view)) : false;
    before = counts;
    showIcon(session === 'out' ? 0 : waiting(counts));
    if (counts && more && document.hidden && settingsState().notify) notify(counts);
  });
}

const isMore = (counts: Counts, before: Counts | null, view: (typeof CALLS)[number][0]) =>
  counts[view] > (before?.[view] ?? 0);

function notify(counts: Counts): void {
  const parts = CALLS.filter(([view]) => counts[view] > 0).map(
    ([view, words]) => `${formatCount(counts[view])} ${words}`,
  );
  const shown = new Notification('Moderation', { body: parts.join(', '), tag: TAG });
  shown.onclick = () => {
    focus();
    shown.close();
  };
}

let plainIcon: string | undefined;

function showIcon(count: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  plainIcon ??= link.href;
  const href = count > 0 ? countIcon(count) : plainIcon;
  if (link.href !== href) link.href = href;
}

/** The count on a disc in the accent colour of the page. */
function countIcon(count: number): string {
  const colour = (name: string) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const text = count > 99 ? '99+' : String(count);
  const size = [18, 16, 12][text.length - 1];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="${colour('--accent')}"/><text x="16" y="17" fill="${colour('--paper')}" font-family="sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" dominant-baseline="central">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
