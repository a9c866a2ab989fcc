import '../shared/base.css';
import './frame/console.css';
import './item/note.css';
import './item/drawer.css';
import './frame/pages.css';
import { render } from 'preact';
import { Console } from './frame/console.tsx';
import { listenToKeys } from './frame/keys.ts';
import { resumeSession } from './frame/signing-in.ts';
import { followCounts } from './live/notifications.ts';

const place = document.getElementById('page');
if (place) render(<Console />, place);
listenToClicks();
listenToKeys();
followCounts();
void resumeSession();

/** Areas without double clicks: after a decision, the next item's buttons appear in its place. */
const GUARDED = '.actions, .list-line';
const MOMENT_MS = 500;
/** How far apart two taps of one finger can be. */
const NEAR_PX = 32;

let last = { timeStamp: Number.NEGATIVE_INFINITY, clientX: 0, clientY: 0 };

/** `detail` alone misses the second click of some touch screens and of slow or shaking hands. */
function isSecond({ detail, timeStamp, clientX, clientY }: MouseEvent): boolean {
  const before = last;
  last = { timeStamp, clientX, clientY };
  const near = Math.hypot(clientX - before.clientX, clientY - before.clientY) <= NEAR_PX;
  return detail > 1 || (near && timeStamp - before.timeStamp < MOMENT_MS);
}

/** Drops the second click of a double click: its target may have appeared after the first. */
function onClick(event: MouseEvent): void {
  // Keys and assistive technology click with `detail` 0, and not by accident.
  if (event.detail === 0 || !isSecond(event)) return;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(GUARDED)) event.stopPropagation();
}

function listenToClicks(): void {
  document.addEventListener('click', onClick, { capture: true });
}
