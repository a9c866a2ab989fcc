import type { LiveView, View } from './view.ts';

const LIVE: readonly string[] = ['guestbook', 'thread', 'me'] satisfies LiveView['kind'][];

/** Whether a script takes the page over in the browser. */
export const isLive = (view: View): view is LiveView => LIVE.includes(view.kind);
