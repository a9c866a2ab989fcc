/** The next note takes the place of the one before at once: what decides stands there again. */
const GUARDED = '.actions, .list-line';
const MOMENT_MS = 500;
/** As far as a finger strays. */
const NEAR_PX = 32;

let last = { timeStamp: Number.NEGATIVE_INFINITY, clientX: 0, clientY: 0 };

/** Not every touch screen tells a second click by its `detail`, and none a slow or a shaking hand. */
function isSecond({ detail, timeStamp, clientX, clientY }: MouseEvent): boolean {
  const before = last;
  last = { timeStamp, clientX, clientY };
  const near = Math.hypot(clientX - before.clientX, clientY - before.clientY) <= NEAR_PX;
  return detail > 1 || (near && timeStamp - before.timeStamp < MOMENT_MS);
}

/** A double click is one click: the second was not meant for what came beneath it meanwhile. */
function onClick(event: MouseEvent): void {
  // A key or a reading aid clicks without a place, and not by accident.
  if (event.detail === 0 || !isSecond(event)) return;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(GUARDED)) event.stopPropagation();
}

export function listenToClicks(): void {
  document.addEventListener('click', onClick, { capture: true });
}
